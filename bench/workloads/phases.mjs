import { makeGraph } from '../lib/graph.mjs';
import { WORK } from '../lib/paths.mjs';
import { exponent, summarize } from '../lib/statistics.mjs';
import { TASKFLOW, taskflowJson } from '../lib/taskflow.mjs';
import { measureNode } from '../lib/usage.mjs';
import { createWorkspace } from '../lib/workspace.mjs';

export const PHASES_SIZES = [1_000, 5_000, 20_000];
const [CPU, PEAK] = ['CPU, ms', 'peak memory, MB'];
const COMMANDS = {
  check: ['check', './flow.json'],
  warm: ['run', './flow.json'],
  'warm, no snapshot': ['run', './flow.json', '--json'],
};

/** Flows of growing size: checking, and a run in which everything is reused. */
export const phases = {
  name: 'phases',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    const sizes = options.quick ? [500, 1_000] : PHASES_SIZES;
    for (const size of sizes) {
      say(`a flow of ${size} phases`);
      await measureSize(results, size);
    }
    addExponents(results, sizes);
  },
};

async function measureSize(results, size) {
  const id = `phases-${size}`;
  results.addTable({ id, title: `A flow of ${size.toLocaleString('en-US')} phases`, base: '', unit: '' });
  const workspace = createWorkspace(`${WORK}/phases`, makeGraph('fan', size));
  const session = await taskflowJson.open(workspace);
  try {
    await session.run();
    for (const [name, args] of Object.entries(COMMANDS)) {
      const samples = [];
      for (let round = 0; round < 3; round += 1) samples.push(await measureNode([TASKFLOW, ...args], workspace.dir));
      results.add(id, name, CPU, summarize(samples.map(({ cpuMs }) => cpuMs)));
      results.add(id, name, PEAK, summarize(samples.map(({ peakMb }) => peakMb)));
    }
  } finally {
    await session.close();
    workspace.remove();
  }
}

function addExponents(results, sizes) {
  const title = 'Growth of a flow, as an exponent of its phases (1 is linear)';
  results.addTable({ id: 'phases-growth', title, base: '', unit: '' });
  for (const name of Object.keys(COMMANDS)) {
    sizes.slice(1).forEach((large, index) => {
      const small = sizes[index];
      for (const measure of [CPU, PEAK]) {
        const at = (size) => ({ size, time: results.median(`phases-${size}`, name, measure) });
        const value = exponent(at(small), at(large));
        const column = `${measure.split(',')[0]}, ${small.toLocaleString('en-US')} → ${large.toLocaleString('en-US')}`;
        results.add('phases-growth', name, column, { median: value, min: value, n: 1 });
      }
    });
  }
}
