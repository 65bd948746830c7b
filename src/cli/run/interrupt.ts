import { EXIT } from '../errors/exit-status.js';

export interface Interrupt {
  /** Aborted by the first Ctrl-C, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  /** Stops listening: an interrupt then ends the process. */
  dispose(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The first interrupt asks the run to end in order; the second ends everything at once. */
export function listenForInterrupts(say: (line: string) => void, kill = killAll): Interrupt {
  const controller = new AbortController();
  const listener = () => {
    if (controller.signal.aborted) {
      void kill().then(() => process.exit(EXIT.interrupted));
      return;
    }
    controller.abort();
    say('interrupted: ending what is under way; once more ends at once');
  };
  for (const name of SIGNALS) process.on(name, listener);
  return {
    signal: controller.signal,
    dispose: () => {
      for (const name of SIGNALS) process.off(name, listener);
    },
  };
}

/** Loaded on demand: hardly any run is interrupted two times. */
async function killAll(): Promise<void> {
  (await import('../../process/run-process.js')).killAllNow();
}
