import { shellWord } from '../../util/shell-word.js';
import type { Advice } from './advice.js';

/** The commands that decide a waiting approval. */
export function decideAdvice(runId: string, phase: string): Advice {
  const word = shellWord(phase);
  return [`taskflow approve ${runId} ${word}`, `(or: taskflow reject ${runId} ${word})`];
}
