import type { Spent } from '../run/batch/result.js';

export type { Spent };

export const NOTHING_SPENT: Spent = { usd: 0, tokens: 0 };

/** A sum with a part whose price is not known has none. */
export function addSpent(a: Spent, b: Spent): Spent {
  return { usd: a.usd === null || b.usd === null ? null : a.usd + b.usd, tokens: a.tokens + b.tokens };
}
