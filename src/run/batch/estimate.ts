import type { LastCost } from '../history/last-costs.js';

/** `about` is the mean; the others are what nearly all such batches stay within. */
export interface Range {
  readonly low: number;
  readonly about: number;
  readonly high: number;
}

/** What rows are going to cost. */
export interface Estimate {
  /** Rows in which something would be executed. */
  readonly rows: number;
  /** Executions, and of how many of them something is known. */
  readonly executions: number;
  readonly known: number;
  /** Null without prices. */
  readonly usd: Range | null;
  readonly tokens: Range;
  readonly ms: Range;
}

/** Of one measure: its mean over several executions, and how far they lie apart. */
interface Spread {
  readonly mean: number;
  readonly variance: number;
}

/** What one phase costs, by what it has cost in several rows. */
export interface UsualCost {
  readonly usd: Spread | undefined;
  readonly tokens: Spread;
  readonly ms: Spread;
}

export function usualCost(costs: readonly LastCost[]): UsualCost {
  const spread = (values: readonly number[]): Spread => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length };
  };
  const usd = costs.map((cost) => cost.usd);
  return {
    usd: usd.every((amount) => amount !== undefined) ? spread(usd as number[]) : undefined,
    tokens: spread(costs.map(({ tokens }) => tokens)),
    ms: spread(costs.map(({ ms }) => ms)),
  };
}

/** Adds up one measure over independent executions: means and variances add. */
class Sum {
  #certain = 0;
  #possible = 0;
  #variance = 0;

  add({ mean, variance }: Spread, isCertain: boolean): void {
    if (isCertain) this.#certain += mean;
    else this.#possible += mean;
    this.#variance += variance;
  }

  range(): Range {
    // Two standard deviations: nineteen of twenty times.
    const margin = 2 * Math.sqrt(this.#variance);
    const about = this.#certain + this.#possible;
    return { low: Math.max(0, this.#certain - margin), about, high: about + margin };
  }
}

export class EstimateSum {
  readonly #rows = new Set<number>();
  readonly #usd = new Sum();
  readonly #tokens = new Sum();
  readonly #ms = new Sum();
  #isPriced = true;
  #executions = 0;
  #known = 0;

  /** `isCertain`: it would be executed; else it may turn out to be reused. */
  add(row: number, cost: UsualCost | undefined, isCertain: boolean): void {
    this.#rows.add(row);
    this.#executions += 1;
    if (!cost) return;
    this.#known += 1;
    if (cost.usd) this.#usd.add(cost.usd, isCertain);
    else this.#isPriced = false;
    this.#tokens.add(cost.tokens, isCertain);
    this.#ms.add(cost.ms, isCertain);
  }

  estimate(): Estimate {
    const usd = this.#isPriced ? this.#usd.range() : null;
    const counts = { rows: this.#rows.size, executions: this.#executions, known: this.#known };
    return { ...counts, usd, tokens: this.#tokens.range(), ms: this.#ms.range() };
  }
}
