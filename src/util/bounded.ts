import { type Context, createContext, Script } from 'node:vm';

let bounded: { readonly context: Context; readonly script: Script } | undefined;

/**
 * Runs synchronous work of unknown length (a pattern with nested repetition, a schema whose references multiply) and
 * stops it when its time is over, which is only possible inside a `vm` script. Throws what the work throws.
 */
export function runBounded<T>(
  work: () => T,
  limitMs: number,
): { readonly value: T } | { readonly tookLongerMs: number } {
  bounded ??= {
    context: createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } }),
    script: new Script('work()'),
  };
  const { context, script } = bounded;
  context['work'] = work;
  const timeout = Math.max(1, Math.ceil(limitMs));
  try {
    for (let attempt = 1; ; attempt++) {
      const before = process.cpuUsage();
      try {
        return { value: script.runInContext(context, { timeout }) as T };
      } catch (error) {
        if ((error as { code?: string }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
        if (attempt === MOST_ATTEMPTS || !wasStarved(before, timeout)) return { tookLongerMs: timeout };
      }
    }
  } finally {
    // Its closure may be large and must not live until the next call.
    context['work'] = undefined;
  }
}

/** On a busy machine the time may pass while the process waits, so the work is tried again. */
const MOST_ATTEMPTS = 8;

function wasStarved(before: NodeJS.CpuUsage, limitMs: number): boolean {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 < limitMs / 2;
}
