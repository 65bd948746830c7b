import type { Path } from '../parse/locate.js';
import { type ConditionNode, conditionNodes } from '../plan/condition-parse.js';
import { isSlowPattern, type Pattern } from '../plan/pattern.js';
import type { Problems } from './problem.js';

/** Bounded, because testing a slow pattern takes its whole time limit. */
const MOST_SLOW = 8;

const found = new WeakMap<Problems, number>();

/** Warns of a pattern that runs out of time on a text that nearly matches. */
export function warnIfSlow(problems: Problems, path: Path, pattern: Pattern): void {
  const before = found.get(problems) ?? 0;
  if (before >= MOST_SLOW || !isSlowPattern(pattern)) return;
  found.set(problems, before + 1);
  problems.warn(path, 'slow-pattern', {
    message: `the pattern /${pattern.source}/ takes twice as long with each character that it repeats`,
    hint: 'write it without a repetition inside of a repetition, such as (a+)+',
  });
}

/** Every pattern of a condition. */
export function conditionPatterns(condition: ConditionNode): readonly Pattern[] {
  return conditionNodes(condition).flatMap((node) =>
    node.type === 'matches' ? [{ source: node.pattern, flags: node.flags }] : [],
  );
}
