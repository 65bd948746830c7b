import { actedOf, type CacheHit, type ItemCounts, NO_SAVINGS, type Origin, type Status } from '../../model/outcome.js';
import { sha256Hex } from '../../util/digest.js';
import type { PhaseContext } from '../context/phase-context.js';
import { addToSavings } from '../core/budget.js';
import type { Execution, Settled } from '../core/execution.js';
import { recordPhase } from '../journal/record.js';
import { unidentified } from '../reuse/settle.js';
import { UnitTally } from '../units/unit-tally.js';

/** Without an attempt, such a unit has not begun: it waits, or was refused before (`--frozen`). */
const NEEDS_ATTEMPT: ReadonlySet<Status> = new Set<Status>(['paused', 'failed']);

/** The totals of a phase that is the sum of its units: each unit is reused or executed for itself. */
export function sumOf(units: readonly Settled[], durationMs: number) {
  const tally = new UnitTally();
  const saved = { ...NO_SAVINGS };
  let executed = 0;
  let noWork = 0;
  let reused = 0;
  let failed = 0;
  let attempts = 0;
  let ageMs = Number.POSITIVE_INFINITY;
  let hit: CacheHit = 'cross-run';
  for (const unit of units) {
    tally.add(unit);
    attempts = Math.max(attempts, unit.attempts);
    if (unit.saved) addToSavings(saved, unit.saved);
    const { origin } = unit;
    if (origin.hit) {
      reused += 1;
      ageMs = Math.min(ageMs, origin.ageMs ?? 0);
      if (origin.hit === 'run') hit = 'run';
    } else if (unit.noWork) {
      noWork += 1;
    } else if (unit.status !== 'cancelled' && (unit.attempts > 0 || !NEEDS_ATTEMPT.has(unit.status))) {
      executed += 1;
    }
    if (unit.status === 'failed') failed += 1;
  }
  return {
    ...tally.totals(durationMs),
    attempts,
    key: sha256Hex(units.map((unit) => unit.result.key ?? unit.status).join('\n')),
    execution: sha256Hex(units.map((unit) => unit.result.execution ?? unit.status).join('\n')),
    items: { total: units.length, executed, reused, failed },
    ...(reused > 0 ? { saved } : {}),
    ...(units.length > 0 && reused === units.length ? { reused: { hit, ageMs, ...sharedOf(units) } } : {}),
    // What a person says is done is neither: a phase that is all of that and reused has executed nothing.
    ...((noWork > 0 && noWork + reused === units.length) || units.length === 0 ? { noWork: true } : {}),
    acted: actedOf(units),
    ...modelOf(units),
  } satisfies Partial<Execution>;
}

function sharedOf(units: readonly Settled[]): Pick<Origin, 'shared'> {
  return units.every(({ origin }) => origin.shared) ? { shared: true } : {};
}

/** The model that answered all of them, if it was one. */
function modelOf(units: readonly Settled[]): { model?: string } {
  const models = new Set(units.flatMap(({ result }) => result.model ?? []));
  return models.size === 1 ? { model: [...models][0] } : {};
}

/** Records a phase that has no identity of its own; what its units saved is counted already. */
export function settleComposite(at: PhaseContext, execution: Execution, reason: string): Settled {
  const settled = unidentified(at, execution, reason);
  recordPhase(at, settled);
  return settled;
}

/** `all 12 reused`, `1 of 13 executed`. */
export function itemsReason(items: ItemCounts, because: string): string {
  if (items.total === 0) return 'nothing to do: the list is empty';
  if (items.reused === items.total) return `all ${items.total} reused`;
  if (items.reused === 0 || items.executed === 0) return because;
  return `${items.executed} of ${items.total} executed, ${items.reused} reused`;
}
