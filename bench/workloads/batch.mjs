import { interleave } from '../lib/interleave.mjs';
import { FLOOR } from '../lib/paths.mjs';
import { createProject } from '../lib/project.mjs';

const FLOW = {
  name: 'topic',
  args: { topic: { required: true } },
  phases: [{ id: 'say', type: 'script', run: ['echo', '{args.topic}'], cache: { scope: 'cross-run' } }],
};

/** One flow over many topics, all of them kept. */
export const batch = {
  name: 'batch',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    const size = options.quick ? 100 : 1000;
    say(`batch of ${size} topics`);
    const id = `batch-${size}`;
    results.addTable({ id, title: `A batch of ${size.toLocaleString('en-US')} topics`, base: 'floor', unit: 'ms' });
    const project = createProject('batch');
    project.write('flow.json', JSON.stringify(FLOW));
    project.write('topics.txt', `${Array.from({ length: size }, (_, i) => `topic ${i}`).join('\n')}\n`);
    const sample = (run) => {
      let primed = false;
      return async () => {
        if (!primed) await run();
        primed = true;
        return { warm: [await run(), await run()] };
      };
    };
    const cases = [
      { name: 'floor', sample: sample(() => project.node(`${FLOOR}/items.cjs`, 'topics.txt', 'store')) },
      { name: 'taskflow', sample: sample(() => project.taskflow('batch', './flow.json', '--over', 'topics.txt')) },
    ];
    results.addAll(id, await interleave(cases, options));
    project.remove();
  },
};
