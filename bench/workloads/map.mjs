import { interleave } from '../lib/interleave.mjs';
import { FLOOR } from '../lib/paths.mjs';
import { createProject } from '../lib/project.mjs';

/** A map whose items are all kept, and one that is new: one execution. */
export const map = {
  name: 'map',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    const size = options.quick ? 100 : 1000;
    say(`map of ${size} items plus one`);
    const title = `A map of ${size.toLocaleString('en-US')} kept items`;
    results.addTable({ id: `map-${size}`, title, base: 'floor', unit: 'ms' });
    const problem = await checkMap();
    if (problem) results.addAbsent('taskflow (map)', problem);
    const project = createProject('map');
    let items = size;
    const grow = () => {
      items += 1;
      project.write('flow.json', mapFlow(items));
    };
    project.write('flow.json', mapFlow(items));
    const sample = (run) => async () => {
      await run();
      const warm = [await run(), await run()];
      grow();
      return { warm, 'plus one': [await run()] };
    };
    const cases = [
      { name: 'floor', sample: sample(() => project.node(`${FLOOR}/items.cjs`, 'flow.json', 'store')) },
      { name: 'taskflow', sample: sample(() => project.taskflow('run', './flow.json')) },
    ];
    results.addAll(`map-${size}`, await interleave(cases, options));
    project.remove();
  },
};

/** Counts executions through a side effect: all of them at first, then just the new item. */
async function checkMap() {
  const project = createProject('map-check');
  project.write('count.sh', 'echo "$1" >> executions.log\necho "$1"\n');
  const executedWith = async (count) => {
    project.write('flow.json', mapFlow(count, ['sh', 'count.sh', '{item}']));
    project.write('executions.log', '');
    await project.taskflow('run', './flow.json');
    return project.read('executions.log').split('\n').length - 1;
  };
  try {
    const executed = [await executedWith(20), await executedWith(20), await executedWith(21)].join(', ');
    return executed === '20, 0, 1' ? undefined : `executed ${executed} items instead of 20, 0, 1`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    project.remove();
  }
}

function mapFlow(count, run = ['echo', '{item}']) {
  const over = Array.from({ length: count }, (_, i) => `item ${i}`);
  const phase = { id: 'each', type: 'map', over, run, cache: { scope: 'cross-run' } };
  return JSON.stringify({ name: 'map', phases: [phase] }, null, 1);
}
