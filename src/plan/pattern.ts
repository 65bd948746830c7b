import { PATTERN_MS } from '../model/limits.js';
import { runBounded } from '../util/bounded.js';

export interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** Whether a pattern is found in a text, within a time: the text comes from outside, and some patterns never end. */
export function testPattern(
  { source, flags }: Pattern,
  text: string,
  limitMs: number = PATTERN_MS,
): { readonly value: boolean } | { readonly error: string } {
  try {
    const tested = runBounded(() => new RegExp(source, flags).test(text), limitMs);
    if ('value' in tested) return tested;
    return { error: `the pattern /${source}/ took longer than ${PATTERN_MS} ms` };
  } catch (error) {
    return { error: `the pattern /${source}/ cannot be used: ${(error as Error).message}` };
  }
}

/** Long enough to recognize doubling; a pattern without it needs a thousandth of this. */
const TRIAL_MS = 25;
const TRIALS = 3;
const REPEATED = 30;
/** Characters that classes match: `\w`, `\d`, `\s`, `.`. */
const USUAL = ['a', '0', ' ', '-', '\n'];

/**
 * Whether the time that a pattern takes doubles with each character. Tests it on one of its own characters many times,
 * followed by one that does not match. True is certain; a pattern may be slow although the answer is false.
 */
export function isSlowPattern({ source, flags }: Pattern): boolean {
  if (!/[*+}]/.test(source)) return false;
  const letters = new Set([...USUAL, ...(source.match(/[A-Za-z0-9]/g) ?? []).slice(0, 20)]);
  try {
    const pattern = new RegExp(source, flags);
    const trial = () => {
      for (const letter of letters) pattern.test(`${letter.repeat(REPEATED)}\u0000`);
    };
    // On a busy machine one trial may only have waited for its turn.
    for (let tries = 0; tries < TRIALS; tries++) if ('value' in runBounded(trial, TRIAL_MS)) return false;
    return true;
  } catch {
    // Not a valid pattern, which other code reports.
    return false;
  }
}
