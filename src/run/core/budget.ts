import type { Budget } from '../../model/flow.js';
import { addUsage, NO_SAVINGS, NO_USAGE, type Savings, totalTokens, type Usage } from '../../model/outcome.js';
import { formatMoney } from '../../util/format.js';

/** What a run has spent and saved. Reuse is never spent; unknown money is never 0. */
export class Ledger {
  #spent: Usage = NO_USAGE;
  readonly #saved = { ...NO_SAVINGS };

  constructor(private readonly budget: Budget | undefined) {}

  spend(usage: Usage): void {
    this.#spent = addUsage(this.#spent, usage);
  }

  save(saved: Savings): void {
    addToSavings(this.#saved, saved);
  }

  get spent(): Usage {
    return this.#spent;
  }

  /** Some of what was spent has no known price. */
  get unknownMoney(): boolean {
    return this.#spent.usd === undefined;
  }

  get saved(): Savings {
    return { ...this.#saved };
  }

  /** Money that may still be spent; undefined without a budget in money. */
  get leftUSD(): number | undefined {
    const { maxUSD } = this.budget ?? {};
    return maxUSD === undefined ? undefined : Math.max(0, maxUSD - (this.#spent.usd ?? 0));
  }

  /** Why nothing more may be started, or undefined. */
  exceeded(): string | undefined {
    const { maxUSD, maxTokens } = this.budget ?? {};
    const { usd } = this.#spent;
    if (maxUSD !== undefined && usd === undefined) {
      return 'the budget is in money, and nobody knows what was spent: a runner did not say what it costs';
    }
    if (maxUSD !== undefined && usd !== undefined && usd >= maxUSD) {
      return `the budget of ${formatMoney(maxUSD)} is used up (${formatMoney(usd)} spent)`;
    }
    const tokens = totalTokens(this.#spent);
    if (maxTokens !== undefined && tokens >= maxTokens) {
      return `the budget of ${maxTokens} tokens is used up (${tokens} spent)`;
    }
    return undefined;
  }
}

/** Counted up in place: a map may have ten thousand items. */
export function addToSavings(sum: { -readonly [F in keyof Savings]: Savings[F] }, saved: Savings): void {
  sum.usd = sum.usd === null || saved.usd === null ? null : sum.usd + saved.usd;
  sum.tokens += saved.tokens;
  sum.ms += saved.ms;
}

export function addSavings(a: Savings, b: Savings): Savings {
  const sum = { ...a };
  addToSavings(sum, b);
  return sum;
}

/** What not executing something saves: what it cost when it was executed. */
export function savingsOf(cost: { readonly usage: Usage; readonly durationMs: number }): Savings {
  return { usd: cost.usage.usd ?? null, tokens: totalTokens(cost.usage), ms: Math.round(cost.durationMs) };
}
