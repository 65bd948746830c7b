import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';

/** How much of a function runs before V8 thinks of optimizing it: its default was one of these in all versions. */
const USUAL_BUDGETS = [66 * 1024, 132 * 1024];
const BUDGET = 1_000_000;
const USUAL_GROWTH = 2;

/**
 * A large run is much code that runs a thousand times each, beside processes that need the cores and are forked from
 * this one. V8 would spend a fifth of its time on optimizing what is soon over, on all cores, and let the young
 * generation grow to 32 MB, which every fork then copies the page tables of. Only for a process of our own: a library
 * leaves the engine of its host alone.
 */
export function tuneEngine(): void {
  const usual = usualBudget();
  if (usual === undefined) return;
  setFlagsFromString(`--interrupt-budget=${BUDGET}`);
  setFlagsFromString('--semi-space-growth-factor=1');
  // V8 takes compiled code only under the flags that it was compiled with; what is kept at the end is for the next start.
  process.prependOnceListener('exit', () => {
    setFlagsFromString(`--interrupt-budget=${usual}`);
    setFlagsFromString(`--semi-space-growth-factor=${USUAL_GROWTH}`);
  });
}

/** There is no way to ask for a flag; but the tag of compiled code stays the same when one is set to what it was. */
function usualBudget(): number | undefined {
  const tag = cachedDataVersionTag();
  return USUAL_BUDGETS.find((budget) => {
    setFlagsFromString(`--interrupt-budget=${budget}`);
    return cachedDataVersionTag() === tag;
  });
}
