import type { Failure } from '../model/failure.js';
import { NO_USAGE, type Usage } from '../model/outcome.js';
import { withSaid } from '../process/end-failure.js';
import { TAIL_BYTES, Tail } from '../process/tail.js';
import { oneLine } from '../util/terminal-text.js';
import type { RunnerEvent, RunnerRequest, RunnerResult } from './runner.js';
import { isTransientMessage } from './transient.js';

/** A tool call under way. Only one that ended well has touched its file. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** What it is about, for people: a path, a command. */
  readonly detail?: string;
  readonly reads?: string;
  readonly writes?: string;
}

/** What an event stream has said so far. Folded line by line; every fold returns a new one. */
export interface Transcript {
  readonly text: string;
  readonly model?: string;
  readonly usage: Usage;
  readonly turns: number;
  readonly filesRead: readonly string[];
  readonly filesWritten: readonly string[];
  readonly usedTools: boolean;
  readonly lastTool?: { readonly name: string; readonly detail?: string };
  /** Calls that have not come back yet, by their id. */
  readonly toolsUnderWay: Readonly<Record<string, ToolCall>>;
  readonly permissionDenied: boolean;
  readonly deniedTools?: readonly string[];
  readonly clientVersion?: string;
  /** The message that was counted last, where messages come in parts. */
  readonly messageId?: string;
  /** The client reported that it is done: without that, a good exit status proves nothing. */
  readonly ended: boolean;
  /** Why the answer ended early. */
  readonly stop?: 'length' | 'refusal';
  /** The reason of a failure, as the client or its model gave it. */
  readonly error?: string;
  /** Whether the same call may succeed later, where the client says so. Otherwise the text of `error` decides. */
  readonly transient?: boolean;
  readonly retryAfterMs?: number;
  /** The error is that a usage limit is reached; `resetsAt`: until when, in ms since the epoch. */
  readonly limited?: true;
  readonly resetsAt?: number;
  /** What to do about it. */
  readonly hint?: string;
  /** The client has tried again by itself. */
  readonly retried?: true;
  /** How often in a row the client said that it waits for the network; beyond a bound, the call fails. */
  readonly waits?: number;
  readonly waitsInVain?: true;
  /** The call failed before a model was asked. */
  readonly unasked?: true;
  /** Start of the first output that was not an event. */
  readonly garbage?: string;
}

export type Draft = { -readonly [F in keyof Transcript]: Transcript[F] };

/** Has all fields that any answer may set, so that V8 makes one hidden class and not one per added field. */
export function newTranscript(): Draft {
  return {
    text: '',
    model: undefined,
    usage: { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 },
    turns: 0,
    filesRead: [],
    filesWritten: [],
    usedTools: false,
    toolsUnderWay: {},
    permissionDenied: false,
    ended: false,
    stop: undefined,
    error: undefined,
    transient: undefined,
    garbage: undefined,
  };
}

export const EMPTY_TRANSCRIPT: Transcript = newTranscript();

const SAMPLE_LENGTH = 200;

/** Keeps the first line that was not an event, as a sample. */
export function withGarbage(transcript: Transcript, line: string): Transcript {
  const sample = line.trim().slice(0, SAMPLE_LENGTH);
  return sample === '' || transcript.garbage !== undefined ? transcript : { ...transcript, garbage: sample };
}

/** Reports to the listener what is new between two states. */
export function report(
  { onEvent, onText }: Pick<RunnerRequest, 'onEvent' | 'onText'>,
  before: Transcript,
  after: Transcript,
): void {
  if (onEvent) for (const event of progress(before, after)) onEvent(event);
  if (!onText || after.text === before.text) return;
  const said = after.text.startsWith(before.text) ? after.text.slice(before.text.length) : after.text;
  if (said !== '') onText(said);
}

function progress(before: Transcript, after: Transcript): RunnerEvent[] {
  const events: RunnerEvent[] = [];
  if (after.model !== undefined && after.model !== before.model) events.push({ type: 'model', model: after.model });
  if (after.turns !== before.turns) events.push({ type: 'turn', turns: after.turns });
  if (after.lastTool && after.lastTool !== before.lastTool) events.push({ type: 'tool', ...after.lastTool });
  if (after.usage !== before.usage) events.push({ type: 'usage', usage: after.usage });
  return events;
}

/** How the process or connection ended: `failure` is undefined when it ended well. */
export interface ClientEnding {
  readonly failure?: Failure;
  /** Tail of the error stream. */
  readonly detail?: string;
  /** The client's name, for messages: `pi`, `claude` … */
  readonly who: string;
}

export function toResult(transcript: Transcript, ending: ClientEnding): RunnerResult {
  const { failure, stopReason } = judge(transcript, ending);
  return {
    text: transcript.text,
    model: transcript.model,
    usage: usageOf(transcript, ending),
    stopReason,
    filesRead: transcript.filesRead,
    filesWritten: transcript.filesWritten,
    turns: transcript.turns,
    usedTools: transcript.usedTools,
    permissionDenied: transcript.permissionDenied,
    deniedTools: transcript.deniedTools,
    clientVersion: transcript.clientVersion,
    failure,
  };
}

/**
 * A call that did not report its cost to the end has an unknown price, because a partial answer is paid for, too. A
 * call that failed before a model was asked cost nothing.
 */
function usageOf({ usage, ended, unasked }: Transcript, { failure }: ClientEnding): Usage {
  if (unasked || failure?.code === 'spawn' || failure?.code === 'no-runner') return NO_USAGE;
  return ended ? usage : { ...usage, usd: undefined };
}

interface Verdict {
  readonly stopReason: RunnerResult['stopReason'];
  readonly failure?: Failure;
}

/** Our own limits first, then what the client reported, then how it ended; success only if none of them failed. */
function judge(transcript: Transcript, ending: ClientEnding): Verdict {
  const outside = ending.failure;
  const said = ending.detail?.trimEnd() || (outside ? lastWords(transcript) : '');
  const error = (failure: Failure): Verdict => ({ stopReason: 'error', failure: withSaid(failure, said) });
  if (outside?.code === 'interrupted') return { stopReason: 'cancelled', failure: outside };
  if (outside && outside.code !== 'exit' && outside.code !== 'signal' && outside.code !== 'runner')
    return error(outside);
  if (transcript.error !== undefined) return error(reportedError(transcript, transcript.error, ending.who));
  if (transcript.stop === 'length') return { stopReason: 'length', failure: LENGTH };
  if (transcript.stop === 'refusal') return { stopReason: 'refusal', failure: refusal(transcript) };
  if (outside) return error(blame(outside, ending));
  if (!transcript.ended) return error(notUnderstood(transcript, ending.who));
  return { stopReason: 'complete' };
}

function reportedError(transcript: Transcript, error: string, who: string): Failure {
  const { transient = isTransientMessage(error), retryAfterMs, limited, resetsAt, hint } = transcript;
  return {
    code: limited ? 'usage-limit' : 'runner',
    message: `${who}: ${error}`,
    ...(hint !== undefined && { hint }),
    ...(transient && { transient }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(limited && resetsAt !== undefined && { resetsAt }),
  };
}

const LENGTH: Failure = {
  code: 'length',
  message: 'the answer was cut off by a token limit',
  hint: 'ask for less at once, or raise the limit of the model',
};

function refusal(transcript: Transcript): Failure {
  const said = transcript.text.trim().slice(0, SAMPLE_LENGTH);
  return { code: 'refusal', message: said === '' ? 'the model refused to answer' : `the model refused: ${said}` };
}

function notUnderstood({ garbage }: Transcript, who: string): Failure {
  return garbage === undefined
    ? { code: 'runner', message: `${who} ended without an answer` }
    : { code: 'runner', message: `${who} said something that is not an answer: ${garbage}` };
}

/** A client that gives no reason in its stream often gives one on stderr. */
function blame(failure: Failure, { detail }: ClientEnding): Failure {
  return detail && isTransientMessage(detail) ? { ...failure, transient: true } : failure;
}

/** What an agent was doing when it failed or was stopped with nothing on its error stream. */
function lastWords({ text, toolsUnderWay }: Transcript): string {
  const tail = new Tail(TAIL_BYTES);
  tail.add(Buffer.from(text));
  const calls = Object.values(toolsUnderWay).map(({ name, detail }) =>
    oneLine(`${name} ${detail ?? ''}`).slice(0, SAMPLE_LENGTH),
  );
  const underWay = calls.length === 0 ? '' : `(under way: ${calls.join(', ')})`;
  return [tail.text().trimEnd(), underWay].filter(Boolean).join('\n');
}
