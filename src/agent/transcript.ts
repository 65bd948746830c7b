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
  /** The client said that it is through: without that, a good exit status proves nothing. */
  readonly ended: boolean;
  /** How the answer ended, where not well. */
  readonly stop?: 'length' | 'refusal';
  /** What the client or the model behind it gave as the reason of a failure. */
  readonly error?: string;
  /** Whether the same call may succeed later, where that is known better than by the words of `error`. */
  readonly transient?: boolean;
  readonly retryAfterMs?: number;
  /** The error is that a usage limit is reached; `resetsAt`: until when, in ms since the epoch. */
  readonly limited?: true;
  readonly resetsAt?: number;
  /** What to do about it. */
  readonly hint?: string;
  /** The client has tried again by itself. */
  readonly retried?: true;
  /** How often in a row it said that it waits for the network; beyond a bound, nobody waits with it. */
  readonly waits?: number;
  readonly waitsInVain?: true;
  /** Nobody was asked: it did not come to that. */
  readonly unasked?: true;
  /** First of what was not an event. */
  readonly garbage?: string;
}

export type Draft = { -readonly [F in keyof Transcript]: Transcript[F] };

/** With the fields that any answer may set: V8 makes a new hidden class for each copy that gets one more. */
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

/** Keeps the first line that was no event, as a sample. */
export function withGarbage(transcript: Transcript, line: string): Transcript {
  const sample = line.trim().slice(0, SAMPLE_LENGTH);
  return sample === '' || transcript.garbage !== undefined ? transcript : { ...transcript, garbage: sample };
}

/** Reports what is new between two states, to whoever listens. */
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

/** How it ended from outside: the process or the connection failed, or was ended. Undefined: it ended well. */
export interface Ending {
  readonly failure?: Failure;
  /** Tail of the error stream. */
  readonly detail?: string;
  /** Whose words these are, for messages: `pi`, `claude` … */
  readonly who: string;
}

export function toResult(transcript: Transcript, ending: Ending): RunnerResult {
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
 * What was asked and did not say to the end what it cost has an unknown price: an answer under way is paid for, too.
 * What could not be asked has cost nothing.
 */
function usageOf({ usage, ended, unasked }: Transcript, { failure }: Ending): Usage {
  if (unasked || failure?.code === 'spawn' || failure?.code === 'no-runner') return NO_USAGE;
  return ended ? usage : { ...usage, usd: undefined };
}

interface Verdict {
  readonly stopReason: RunnerResult['stopReason'];
  readonly failure?: Failure;
}

/** Our own limits first, then what the client said, then how it ended; success only if nothing speaks against it. */
function judge(transcript: Transcript, ending: Ending): Verdict {
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
function blame(failure: Failure, { detail }: Ending): Failure {
  return detail && isTransientMessage(detail) ? { ...failure, transient: true } : failure;
}

/** What an agent was at when it failed or was stopped without a word on its error stream. */
function lastWords({ text, toolsUnderWay }: Transcript): string {
  const tail = new Tail(TAIL_BYTES);
  tail.add(Buffer.from(text));
  const calls = Object.values(toolsUnderWay).map(({ name, detail }) =>
    oneLine(`${name} ${detail ?? ''}`).slice(0, SAMPLE_LENGTH),
  );
  const underWay = calls.length === 0 ? '' : `(under way: ${calls.join(', ')})`;
  return [tail.text().trimEnd(), underWay].filter(Boolean).join('\n');
}
