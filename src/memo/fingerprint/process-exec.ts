import { PROBE_BYTES } from '../../model/limits.js';
import type { ProcessRequest, ProcessResult } from '../../process/process.js';
import type { Exec } from './source.js';

/** A fingerprint command that takes longer than this fails. */
const LIMIT_MS = 60_000;

/** The one way to start a process, as fingerprints need it. */
export function processExec(options: {
  readonly run: (request: ProcessRequest) => Promise<ProcessResult>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A function, because the run may not have begun when this is made. */
  readonly signal?: () => AbortSignal | undefined;
}): Exec {
  return async (argv, cwd) => {
    const { env, signal } = options;
    const result = await options.run({
      argv,
      cwd,
      env,
      signal: signal?.(),
      timeoutMs: LIMIT_MS,
      maxStdoutBytes: PROBE_BYTES,
    });
    const { failure, stdout, exitCode, stderrTail } = result;
    if (failure && failure.code !== 'exit') return { failed: failure.message };
    return { stdout, exitCode, stderrTail };
  };
}
