import { growthPerDoubling } from './statistics.mjs';

/**
 * How each contender's time grows with the size of its graph. What the smallest graph costs (starting up, mostly) is
 * taken off first, so it needs three sizes.
 * @param {import('./results.mjs').Results} results @param {number[]} sizes
 */
export function addGrowth(results, sizes) {
  const [base, small, large] = [...sizes].sort((a, b) => a - b).slice(-3);
  if (base === undefined || small === undefined || large === undefined) return;
  const title = `Growth when the phases double, between ${small} and ${large}, less the time of ${base} (2 is linear)`;
  results.addTable({ id: 'growth', title, base: '', unit: '×' });
  for (const shape of ['chain', 'fan']) {
    for (const { row, column } of results.of(`${shape}-${large}`)) {
      const at = (size) => ({ size, time: results.median(`${shape}-${size}`, row, column) ?? Number.NaN });
      const value = growthPerDoubling(at(base), at(small), at(large));
      if (value > 0) results.add('growth', row, `${shape}, ${column}`, { median: value, min: value, n: 1 });
    }
  }
}
