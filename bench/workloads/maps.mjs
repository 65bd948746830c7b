import { startModelServer } from '../calls/start-server.mjs';
import { createCallsProject } from '../calls/taskflow.mjs';
import { discard } from '../lib/discard.mjs';
import { FLOOR } from '../lib/paths.mjs';
import { exponent, summarize } from '../lib/statistics.mjs';
import { measureNode } from '../lib/usage.mjs';

const AT_ONCE = 50;
const DELAY_MS = 1;
export const MAP_SIZES = [1000, 10_000, 100_000];
const MEASURES = ['cold', 'warm', 'one more'];

/** Maps of growing size over a model that answers in a millisecond: cold, all kept, and one more item. */
export const maps = {
  name: 'maps',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    const sizes = options.quick ? [100, 1000] : MAP_SIZES;
    const server = await startModelServer();
    try {
      for (const size of sizes) {
        say(`map of ${size} items`);
        await measureMap({ results, server, size, rounds: options.quick || size > 1000 ? 1 : 3 });
      }
    } finally {
      await server.stop();
    }
    addExponents(results, sizes);
  },
};

async function measureMap({ results, server, size, rounds }) {
  const id = `maps-${size}`;
  const title = `A map of ${size.toLocaleString('en-US')} items, ${AT_ONCE} calls at once`;
  results.addTable({ id, title, base: 'floor', unit: 'ms' });
  const url = server.url('whole', DELAY_MS);
  const project = createCallsProject(id, { type: 'openai', baseUrl: url, model: 'small' });
  const floorArgs = [`${FLOOR}/kept-calls.cjs`, 'flow.json', 'store', url, String(AT_ONCE)];
  const contenders = {
    floor: () => measureNode(floorArgs, project.dir),
    taskflow: () => project.measure('run', './flow.json', '--concurrency', String(AT_ONCE)),
  };
  const samples = Object.fromEntries(Object.keys(contenders).map((name) => [name, {}]));
  for (let round = 0; round < rounds; round += 1) {
    project.forget();
    discard(`${project.dir}/store`);
    for (const [name, measure] of Object.entries(contenders)) {
      for (const [what, count] of steps(size)) {
        project.write('flow.json', mapFlow(count));
        await server.takeCalls();
        const { wallMs, cpuMs, peakMb } = await measure();
        const expected = what === 'cold' ? count : what === 'warm' ? 0 : 1;
        const made = await server.takeCalls();
        if (made !== expected) throw new Error(`${name}, ${what}: ${made} calls instead of ${expected}`);
        for (const [column, value] of [
          [what, wallMs],
          [`${what}, CPU`, cpuMs],
          [`${what}, MB`, peakMb],
        ]) {
          samples[name][column] = [...(samples[name][column] ?? []), value];
        }
      }
    }
  }
  for (const [name, columns] of Object.entries(samples)) {
    for (const [column, values] of Object.entries(columns)) results.add(id, name, column, summarize(values));
  }
  project.remove();
}

/** A flow may list 100,000 items: the last one comes with `one more`. */
const steps = (size) => [
  ['cold', size - 1],
  ['warm', size - 1],
  ['one more', size],
];

function mapFlow(count) {
  const over = Array.from({ length: count }, (_, i) => `item ${i}`);
  const phase = { id: 'each', type: 'map', over, task: 'Describe {item}.', cache: { scope: 'cross-run' } };
  return JSON.stringify({ name: 'map', phases: [phase] });
}

/** Processor time: on a shared machine it says how much work there is, and time says how long it had to wait. */
function addExponents(results, sizes) {
  const title = 'Growth of a map, as an exponent of its size (1 is linear; processor time)';
  results.addTable({ id: 'maps-growth', title, base: '', unit: '' });
  for (const name of ['floor', 'taskflow']) {
    for (const what of MEASURES) {
      sizes.slice(1).forEach((large, index) => {
        const small = sizes[index];
        const time = (size) => results.median(`maps-${size}`, name, `${what}, CPU`);
        const value = exponent({ size: small, time: time(small) }, { size: large, time: time(large) });
        const column = `${small.toLocaleString('en-US')} → ${large.toLocaleString('en-US')}`;
        results.add('maps-growth', `${name}, ${what}`, column, { median: value, min: value, n: 1 });
      });
    }
  }
}
