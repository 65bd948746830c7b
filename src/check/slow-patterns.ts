import type { Path } from '../parse/locate.js';
import type { ConditionNode } from '../plan/condition.js';
import { isSlowPattern } from '../plan/pattern.js';
import { systemClock } from '../util/clock.js';
import type { Problems } from './problem.js';

/** Trying patterns out takes time, and a file may be full of slow ones. */
const ALL_TRIALS_MS = 300;

const spent = new WeakMap<Problems, number>();

/** A pattern that will run out of time as soon as a text nearly fits. */
export function warnIfSlow(problems: Problems, path: Path, source: string, flags: string): void {
  const before = spent.get(problems) ?? 0;
  if (before > ALL_TRIALS_MS) return;
  const startedAt = systemClock.elapsed();
  const slow = isSlowPattern(source, flags);
  spent.set(problems, before + systemClock.elapsed() - startedAt);
  if (!slow) return;
  problems.warn(
    path,
    'slow-pattern',
    `the pattern /${source}/ takes twice as long with each character that it repeats`,
    {
      hint: 'write it without a repetition inside of a repetition, such as (a+)+',
    },
  );
}

/** Every pattern of a condition. */
export function conditionPatterns(node: ConditionNode): readonly { readonly source: string; readonly flags: string }[] {
  switch (node.type) {
    case 'or':
    case 'and':
      return node.operands.flatMap(conditionPatterns);
    case 'not':
      return conditionPatterns(node.operand);
    case 'compare':
      return [...conditionPatterns(node.left), ...conditionPatterns(node.right)];
    case 'matches':
      return [{ source: node.pattern, flags: node.flags }, ...conditionPatterns(node.left)];
    default:
      return [];
  }
}
