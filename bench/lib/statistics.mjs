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
 * How a time grows with its size: 1 is linear, 2 quadratic.
 * @param {Point} small @param {Point} large
 */
export function exponent(small, large) {
  return Math.log(large.time / small.time) / Math.log(large.size / small.size);
}

/**
 * How a time grows when the size doubles, once what the smallest size costs is taken off: 2 is linear, 4 quadratic.
 * @typedef {{ size: number, time: number }} Point
 * @param {Point} base @param {Point} small @param {Point} large
 */
export function growthPerDoubling(base, small, large) {
  const times = (large.time - base.time) / (small.time - base.time);
  const sizes = (large.size - base.size) / (small.size - base.size);
  return times ** (1 / Math.log2(sizes));
}
