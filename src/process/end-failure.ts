import type { Failure } from '../model/failure.js';
import { formatDuration } from '../util/duration.js';
import { formatBytes } from '../util/format.js';
import type { ProcessRequest } from './process.js';

export const INTERRUPTED: Failure = { code: 'interrupted', message: 'interrupted' };

export function timeoutFailure(limitMs: number): Failure {
  return {
    code: 'timeout',
    message: `did not end within ${formatDuration(limitMs)}`,
    hint: 'give it more time with `timeout`',
  };
}

export function idleFailure(limitMs: number): Failure {
  return {
    code: 'idle-timeout',
    message: `said nothing for ${formatDuration(limitMs)}`,
    hint: 'allow longer silences with `idleTimeout`',
  };
}

export function overflowFailure(limitBytes: number): Failure {
  return {
    code: 'limit',
    message: `the output is larger than ${formatBytes(limitBytes)}`,
    hint: 'let it write to a file and name the file in `outputs`, or raise `limits.outputBytes` in the settings',
  };
}

/** How a process that ended by itself failed; undefined if it did not. */
export function ownFailure(
  request: ProcessRequest,
  exit: { readonly code: number | null; readonly signal: string | null },
  stderrTail: string,
): Failure | undefined {
  if (exit.code === 0) return undefined;
  const program = request.argv[0] ?? '';
  const failure: Failure =
    exit.signal !== null
      ? { code: 'signal', message: `${program} was ended by ${exit.signal}`, ...signalHint(exit.signal) }
      : { code: 'exit', message: `${program} exited with status ${exit.code}`, ...statusHint(exit.code) };
  return withSaid(failure, stderrTail);
}

/** What a process said last is often why it failed, or what it was at when it was stopped. */
export function withSaid(failure: Failure, said: string): Failure {
  const detail = said.trimEnd();
  return detail === '' || failure.detail !== undefined || failure.code === 'interrupted'
    ? failure
    : { ...failure, detail };
}

function signalHint(signal: string): { hint?: string } {
  return signal === 'SIGKILL' ? { hint: 'someone killed it; the system does so when memory runs out' } : {};
}

/** What a shell means by these two is not obvious from the number. */
function statusHint(code: number | null): { hint?: string } {
  if (code === 127) return { hint: 'a command in it was not found: is it installed, and on PATH?' };
  if (code === 126) return { hint: 'a command in it is not executable' };
  return {};
}
