/**
 * What a workload is given.
 *
 * @typedef {object} Context
 * @property {import('./options.mjs').Options} options
 * @property {import('./results.mjs').Results} results
 * @property {import('./contender.mjs').Contender[]} peers those that are there and do the work
 * @property {(text: string) => void} say progress, for the person who waits
 *
 * @typedef {{ name: string, run: (context: Context) => Promise<void> }} Workload
 */
export {};
