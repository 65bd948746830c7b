import type { ResultLine } from '../../run/journal/lines.js';
import type { TextBudget } from './text.js';
import type { ObservedView } from './types.js';

const MOST_PATHS = 500;

/** What an execution looked at, if its line has that: counts of everything, and the undeclared paths. */
export function observedView(
  { observed, seen }: Pick<ResultLine, 'observed' | 'seen'>,
  texts: TextBudget,
): ObservedView | undefined {
  if (!observed && !seen) return undefined;
  const { reads = [], lists = [], absent = [], complete = false } = seen?.set ?? {};
  const shown = (paths: readonly string[]) => paths.slice(0, MOST_PATHS).map((path) => texts.short(path, 500));
  return {
    complete: observed?.complete ?? complete,
    ...(observed?.incomplete !== undefined && { incomplete: texts.short(observed.incomplete, 400) }),
    ...(observed && { counts: countsIn(observed) }),
    reads: shown(reads),
    lists: shown(lists.map(({ path }) => path)),
    absent: shown(absent),
  };
}

function countsIn({ reads, lists, absent, writes }: NonNullable<ResultLine['observed']>): ObservedView['counts'] {
  return { reads, lists, absent, writes };
}
