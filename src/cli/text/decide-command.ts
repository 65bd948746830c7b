import { shellWord } from '../../util/shell-word.js';

/** What to type about a waiting approval. */
export function decideCommand(runId: string, phase: string): string {
  const word = shellWord(phase);
  return `taskflow approve ${runId} ${word}    (or: taskflow reject ${runId} ${word})`;
}
