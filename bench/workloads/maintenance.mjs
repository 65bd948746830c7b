import { rmSync } from 'node:fs';
import { fillStore } from '../lib/fill-store.mjs';
import { createProject } from '../lib/project.mjs';
import { summarize } from '../lib/statistics.mjs';
import { TASKFLOW } from '../lib/taskflow.mjs';
import { peakMemory } from './memory.mjs';
import { entries } from './store.mjs';

/** What a person types about a store, and one run with a miss, in stores of growing size. */
const COMMANDS = {
  'run, one miss': () => ['run', './flow.json'],
  status: () => ['cache', 'status'],
  list: () => ['cache', 'list'],
  gc: () => ['cache', 'gc'],
  verify: () => ['cache', 'verify'],
  export: () => ['cache', 'export', 'all.tfc'],
  // Each time another one: what is cleared is not there any more.
  'clear FLOW': (round) => ['cache', 'clear', `flow-${round + 1}`],
  import: () => ['cache', 'import', 'all.tfc'],
};
const SETTINGS = 'cache: { maxEntries: 10000000, maxBytes: 100GiB }\n';

export const maintenance = {
  name: 'maintenance',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    const sizes = options.quick ? [1_000, 10_000] : [1_000, 10_000, 100_000];
    const base = entries(sizes[0]);
    results.addTable({ id: 'maintenance', title: 'A command on a large store', base, unit: 'ms' });
    results.addTable({ id: 'maintenance-memory', title: 'Its peak memory', base, unit: 'MB' });
    for (const size of sizes) {
      say(`maintenance: ${size} entries`);
      const project = createProject(`maintenance-${size}`);
      await fillStore(project.dir, size);
      project.write('.pi/taskflows/config.yaml', SETTINGS);
      await project.taskflow('cache', 'gc');
      for (const [name, argsOf] of Object.entries(COMMANDS)) {
        const { times, peaks } = await samplesOf(project, argsOf, options.quick ? 1 : 2);
        results.add('maintenance', entries(size), name, summarize(times));
        results.add('maintenance-memory', entries(size), name, summarize(peaks));
      }
      project.remove();
    }
  },
};

async function samplesOf(project, argsOf, rounds) {
  const times = [];
  const peaks = [];
  for (let round = 0; round < rounds; round += 1) {
    const args = argsOf(round);
    // A miss each time, and a file to export to.
    project.write('flow.json', flow(`${Date.now()} ${round}`));
    if (args.includes('export')) rmSync(`${project.dir}/all.tfc`, { force: true });
    const started = performance.now();
    peaks.push(await peakMemory([TASKFLOW, ...args], project.dir));
    times.push(performance.now() - started);
  }
  return { times, peaks };
}

function flow(text) {
  const phase = { id: 'p', type: 'script', run: ['echo', text], cache: { scope: 'cross-run' } };
  return JSON.stringify({ name: 'one', phases: [phase] });
}
