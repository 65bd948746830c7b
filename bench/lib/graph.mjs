// The generated work: chains and fans of trivial phases, the same for every contender.

/**
 * @typedef {object} Phase
 * @property {string} id
 * @property {string[]} needs
 *
 * @typedef {object} Graph
 * @property {'chain' | 'fan'} shape
 * @property {number} size
 * @property {Phase[]} phases in an order in which every phase follows what it needs
 * @property {string} last everything else leads to it: building it builds all
 * @property {string} leaf the phase whose input is edited for "one leaf changed"
 * @property {number} afterLeaf how many phases must run after that edit
 */

export const SHAPES = /** @type {const} */ (['chain', 'fan']);

/** @param {'chain' | 'fan'} shape @param {number} size @returns {Graph} */
export function makeGraph(shape, size) {
  return shape === 'chain' ? chain(size) : fan(size);
}

/** Each phase needs the one before it; the leaf is the last one. */
function chain(size) {
  const phases = names(size).map((id, i) => ({ id, needs: i === 0 ? [] : [`p${i - 1}`] }));
  const last = `p${size - 1}`;
  return /** @type {Graph} */ ({ shape: 'chain', size, phases, last, leaf: last, afterLeaf: 1 });
}

/** One root, `size - 2` leaves that need it, one join that needs them all; the edited leaf is in the middle. */
function fan(size) {
  if (size < 3) throw new RangeError('a fan has at least 3 phases');
  const ids = names(size);
  const leaves = ids.slice(1, -1);
  const last = `p${size - 1}`;
  const needs = (id) => (id === 'p0' ? [] : id === last ? leaves : ['p0']);
  const phases = ids.map((id) => ({ id, needs: needs(id) }));
  const leaf = leaves[Math.floor(leaves.length / 2)];
  return /** @type {Graph} */ ({ shape: 'fan', size, phases, last, leaf, afterLeaf: 2 });
}

function names(size) {
  return Array.from({ length: size }, (_, i) => `p${i}`);
}
