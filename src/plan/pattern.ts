import { type Context, createContext, Script } from 'node:vm';

const LIMIT_MS = 250;
/** Longer texts are cut: a pattern that needs more belongs in a script. */
const LONGEST_TEXT = 1_000_000;

let bounded: { readonly context: Context; readonly script: Script } | undefined;

/**
 * Whether a pattern is found in a text. It runs where it can be stopped: a pattern with nested repetition can take
 * longer than the universe has, and the text comes from outside.
 */
export function testPattern(
  source: string,
  flags: string,
  text: string,
): { readonly value: boolean } | { readonly error: string } {
  bounded ??= {
    context: createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } }),
    script: new Script('new RegExp(source, flags).test(text)'),
  };
  Object.assign(bounded.context, { source, flags, text: text.slice(0, LONGEST_TEXT) });
  try {
    return { value: bounded.script.runInContext(bounded.context, { timeout: LIMIT_MS }) === true };
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      return { error: `the pattern /${source}/ took longer than ${LIMIT_MS} ms` };
    }
    return { error: `the pattern /${source}/ cannot be used: ${(error as Error).message}` };
  } finally {
    // The text may be large; it is not kept alive until the next condition.
    bounded.context['text'] = '';
  }
}
