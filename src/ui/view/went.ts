import { type Spent, spentOn, type Usage } from '../../model/outcome.js';
import type { ResultLine } from '../../run/journal/lines.js';
import type { TextBudget } from './text.js';
import type { UnitView } from './types.js';

/** Undefined where nothing was spent, as in most lines of a large run. */
export function spentIfAny(usage: Usage): Spent | undefined {
  const money = spentOn(usage);
  return money.usd === 0 && money.tokens === 0 ? undefined : money;
}

/** How something went, from its line. */
export function wentOf(
  line: ResultLine,
  startedAt: number | undefined,
  texts: TextBudget,
): Omit<UnitView, 'name' | 'label'> {
  const { status, hit, madeAt, at, usage, saved, failure } = line;
  const spent = spentIfAny(usage);
  return {
    state: status,
    ...(hit !== null && { hit }),
    ...(line.shared && { shared: true as const }),
    ...(hit !== null && madeAt !== undefined && { ageMs: Math.max(0, at - madeAt) }),
    reason: texts.short(line.reason, 400),
    ...(spent && { spent }),
    ...(saved && { saved }),
    durationMs: line.durationMs,
    ...(startedAt !== undefined && { startedAt }),
    endedAt: at,
    ...(failure && { failure: texts.short(failure.message, 400) }),
  };
}
