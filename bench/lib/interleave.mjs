import { summarize } from './statistics.mjs';

/**
 * Measures several things side by side: one sample of each in turn, round after round, so that a busy moment of the
 * machine touches all of them. Something slow stops being repeated once its own budget is spent; it always has one
 * sample.
 *
 * @typedef {object} Case
 * @property {string} name
 * @property {() => Promise<Record<string, number[] | undefined>>} sample one round: samples by measure
 *
 * @param {Case[]} cases
 * @param {{ rounds: number, budgetMs: number }} limits
 * @returns {Promise<Map<string, Record<string, import('./statistics.mjs').Summary> | { failed: string }>>}
 */
export async function interleave(cases, { rounds, budgetMs }) {
  const states = cases.map((one) => ({ ...one, samples: {}, spent: 0, failed: '' }));
  for (let round = 0; round < rounds; round += 1) {
    for (const state of states) {
      if (state.failed !== '' || (round > 0 && state.spent * (1 + 1 / round) > budgetMs)) continue;
      await takeSample(state);
    }
  }
  return new Map(states.map((state) => [state.name, state.failed ? { failed: state.failed } : summaries(state)]));
}

async function takeSample(state) {
  const started = performance.now();
  try {
    for (const [measure, values = []] of Object.entries(await state.sample())) {
      state.samples[measure] = [...(state.samples[measure] ?? []), ...values];
    }
  } catch (error) {
    // A contender that fails is named in the table; the others go on.
    state.failed = error instanceof Error ? error.message : String(error);
  }
  state.spent += performance.now() - started;
}

function summaries(state) {
  return Object.fromEntries(Object.entries(state.samples).map(([name, values]) => [name, summarize(values)]));
}
