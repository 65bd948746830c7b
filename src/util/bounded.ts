import { type Context, createContext, Script } from 'node:vm';

let bounded: { readonly context: Context; readonly script: Script } | undefined;

/**
 * Work that does not wait and that nobody knows the length of: a pattern with nested repetition, a schema whose references
 * multiply. It is broken off when its time is over, which only code that runs inside a `vm` script can be; what it calls is
 * ours. Throws what the work throws.
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
    return { value: script.runInContext(context, { timeout }) as T };
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { tookLongerMs: timeout };
    throw error;
  } finally {
    // What it closes over may be large, and need not live until the next one.
    context['work'] = undefined;
  }
}
