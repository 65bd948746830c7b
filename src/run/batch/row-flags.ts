import { shellWord } from '../../util/shell-word.js';
import type { RunLine } from '../journal/lines.js';

/** What a journal may have us type: no more than what decides the rows. */
const ROW_FLAG = /^--(as|format|args-file|arg|out)=/;
/** In place of a secret, which no journal has. */
export const LEFT_OUT = '…';

/** The flags that decide the rows of a batch, besides its list. */
export function rowFlagsOf({ rowFlags = [] }: Pick<RunLine, 'rowFlags'>): readonly string[] {
  return Array.isArray(rowFlags) ? rowFlags.map(String).filter((flag) => ROW_FLAG.test(flag)) : [];
}

/** What a person types to go on with a batch. */
export function resumeCommand({ ref, over = 'FILE', ...run }: Pick<RunLine, 'ref' | 'over' | 'rowFlags'>): string {
  const words = ['taskflow', 'batch', ref, '--over', over, ...rowFlagsOf(run), '--resume'];
  return words.map(shellWord).join(' ');
}
