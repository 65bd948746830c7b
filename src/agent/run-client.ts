import type { Failure } from '../model/failure.js';
import { DEFAULT_LIMITS } from '../model/limits.js';
import { overflowFailure } from '../process/end-failure.js';
import type { ProcessRequest, ProcessResult } from '../process/process.js';
import { runProcess } from '../process/run-process.js';
import { LineSplitter } from '../util/lines.js';
import type { ClientAdvice, ClientCommand } from './client.js';
import { clientFailure } from './client-failure.js';
import type { RunnerRequest, RunnerResult } from './runner.js';
import { type ClientEnding, EMPTY_TRANSCRIPT, report, type Transcript, toResult } from './transcript.js';

interface ClientRun {
  readonly who: string;
  readonly command: ClientCommand;
  readonly request: RunnerRequest;
  /** Environment before the command's own. */
  readonly env: RunnerRequest['env'];
  /** How to get the program, should it not be there. */
  readonly install?: string;
  /** What to check when it cannot reach its provider. */
  readonly advice?: ClientAdvice;
}

/** Starts a client and folds its event stream as it comes. */
export async function runClient(
  run: ClientRun,
  fold: (transcript: Transcript, line: string) => Transcript,
): Promise<RunnerResult> {
  const most = run.request.maxOutputBytes ?? DEFAULT_LIMITS.outputBytes;
  const lines = new LineSplitter(most);
  let transcript = EMPTY_TRANSCRIPT;
  const take = (line: string) => {
    const before = transcript;
    transcript = fold(before, line);
    report(run.request, before, transcript);
  };
  const ended = await startClient(run, (chunk) => {
    for (const line of lines.push(chunk)) take(line);
    if (transcript.waitsInVain) return { code: 'runner', message: 'no connection' };
    return lines.isTooLong || transcript.text.length > most ? overflowFailure(most) : undefined;
  });
  const rest = lines.end();
  if (rest !== undefined) take(rest);
  const result = toResult(transcript, endingOf(run, ended));
  if (!result.failure || !run.advice) return result;
  return { ...result, failure: clientFailure(result.failure, transcript, run.advice) };
}

/** Starts a program whose whole stdout is the answer. */
export async function runForAnswer(run: ClientRun, read: (stdout: string) => Transcript): Promise<RunnerResult> {
  const ended = await startClient(run);
  const stdout = ended.stdout.toString('utf8');
  // What a failed or stopped program printed is still worth reading: it may hold the reason, and what was spent.
  const transcript = stdout === '' && ended.failure ? EMPTY_TRANSCRIPT : read(stdout);
  report(run.request, EMPTY_TRANSCRIPT, transcript);
  return toResult(transcript, endingOf(run, ended));
}

/** Agents' tools start things in sessions of their own, so the whole tree is marked. */
function startClient(run: ClientRun, onStdout?: ProcessRequest['onStdout']): Promise<ProcessResult> {
  const { request, command } = run;
  return runProcess({
    argv: command.argv,
    cwd: request.cwd,
    env: { ...run.env, ...command.env },
    input: command.input ?? '',
    signal: request.signal,
    marked: true,
    ...(onStdout ? { onStdout, keepStdout: false } : {}),
    ...(request.maxOutputBytes !== undefined && { maxStdoutBytes: request.maxOutputBytes }),
    ...(request.timeoutMs !== undefined && { timeoutMs: request.timeoutMs }),
    ...(request.idleTimeoutMs !== undefined && { idleTimeoutMs: request.idleTimeoutMs }),
    ...(request.onChildStart && { onStart: request.onChildStart }),
    ...(request.trace && { trace: request.trace }),
  });
}

function endingOf(run: ClientRun, { failure, stderrTail }: ProcessResult): ClientEnding {
  return { who: run.who, detail: stderrTail, ...(failure && { failure: inWords(failure, run) }) };
}

function inWords(failure: Failure, { who, install }: ClientRun): Failure {
  if (failure.code === 'spawn' && install !== undefined && failure.message.endsWith('not found')) {
    return { ...failure, code: 'no-runner', hint: install };
  }
  if (failure.code === 'timeout' || failure.code === 'idle-timeout') {
    return { ...failure, message: `${who} ${failure.message}` };
  }
  return failure;
}
