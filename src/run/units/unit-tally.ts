import { NO_USAGE, type Usage } from '../../model/outcome.js';
import { addKeys, type Execution, type Settled } from '../core/execution.js';
import { ObservationUnion, observedOf } from '../core/observation-union.js';

/** Counted up in place: a map may have ten thousand items. */
type Sum = { -readonly [F in keyof Usage]: Usage[F] };

function addTo(sum: Sum, usage: Usage): void {
  if (usage === NO_USAGE) return;
  sum.inputTokens += usage.inputTokens;
  sum.cachedInputTokens += usage.cachedInputTokens;
  sum.outputTokens += usage.outputTokens;
  sum.usd = sum.usd === undefined || usage.usd === undefined ? undefined : sum.usd + usage.usd;
}

/** Sums up the units of a phase: their cost, whether all may be kept, and their keys. */
export class UnitTally {
  readonly #usage: Sum = { ...NO_USAGE };
  readonly #worth: Sum = { ...NO_USAGE };
  #reusedMs = 0;
  #unkeepable: string | undefined;
  readonly #keys: string[] = [];
  readonly #observed = new ObservationUnion();

  add(unit: Settled): void {
    const { usage, origin } = unit;
    const { cost, unkeepable } = unit.result;
    addTo(this.#usage, usage);
    addTo(this.#worth, cost.usage);
    if (origin.hit) this.#reusedMs += cost.durationMs;
    this.#unkeepable ??= unkeepable;
    addKeys(this.#keys, unit);
    this.#observed.add(observedOf(unit));
  }

  get usage(): Usage {
    return { ...this.#usage };
  }

  /** The fields of an execution that cover all units. */
  totals(
    durationMs: number,
  ): Pick<Execution, 'usage' | 'durationMs' | 'cost' | 'unkeepable' | 'unitKeys' | 'observed'> {
    return {
      usage: this.usage,
      durationMs,
      cost: { usage: { ...this.#worth }, durationMs: durationMs + this.#reusedMs },
      unkeepable: this.#unkeepable,
      unitKeys: this.#keys,
      observed: this.#observed.whole,
    };
  }
}
