import type { PathSet } from '../../model/observation.js';
import { isNothing, type LookedAt, marksOf } from './observed-files.js';

const SHOWN = 2;

/** Describes what changed at the paths of a set since the last execution; undefined when nothing did. */
export function changedInputs(set: PathSet, now: LookedAt): string | undefined {
  const changes = [
    ...readChanges(set, now),
    ...now.appeared.map((path) => `${path} appeared`),
    ...now.gone.map((path) => `${path} disappeared`),
  ];
  if (changes.length === 0) return undefined;
  const more = changes.length - SHOWN;
  return more > 0 ? `${changes.slice(0, SHOWN).join('; ')}; and ${more} more` : changes.join('; ');
}

function readChanges({ reads, lists, marks }: PathSet, now: LookedAt): readonly string[] {
  const found = marksOf(now);
  const changed: string[] = [];
  const others: string[] = [];
  for (const [at, path] of reads.entries()) {
    if (found[at] === marks[at]) continue;
    if (isNothing(found[at]!)) others.push(`${path} disappeared`);
    else if (isNothing(marks[at]!)) others.push(`${path} appeared`);
    else changed.push(path);
  }
  for (const [at, { path }] of lists.entries()) {
    const mark = reads.length + at;
    if (found[mark] !== marks[mark]) others.push(`listing of ${path}/ changed`);
  }
  return changed.length === 0 ? others : [inOne(changed), ...others];
}

function inOne([first, ...others]: readonly string[]): string {
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `read last time and changed since: ${first}${more}`;
}
