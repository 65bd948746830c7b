/**
 * @typedef {{ median: number, min: number, n: number }} Summary
 * @param {number[]} samples
 * @returns {Summary}
 */
export function summarize(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, min: sorted[0], n: sorted.length };
}

/**
 * How a time grows when the size doubles, once the fixed part (starting up) is taken off: 2 is linear, 4 quadratic.
 * @param {{ size: number, ms: number }} small @param {{ size: number, ms: number }} large @param {number} fixedMs
 */
export function growthPerDoubling(small, large, fixedMs) {
  const [a, b] = [small.ms - fixedMs, large.ms - fixedMs];
  if (a <= 0 || b <= 0) return undefined;
  return (b / a) ** (1 / Math.log2(large.size / small.size));
}
