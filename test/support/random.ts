/** A small generator of repeatable randomness (mulberry32): the seed is in the test's name. */
export interface Random {
  /** From 0 to 1. */
  next(): number;
  /** A whole number below the bound. */
  below(bound: number): number;
  pick<T>(list: readonly T[]): T;
  chance(probability: number): boolean;
}

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number) => Math.floor(next() * bound);
  return { next, below, pick: (list) => list[below(list.length)]!, chance: (probability) => next() < probability };
}
