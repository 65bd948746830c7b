import { setTimeout as sleep } from 'node:timers/promises';
import { EDIT_PAUSE_MS } from '../lib/check-contender.mjs';
import { makeGraph, SHAPES } from '../lib/graph.mjs';
import { interleave } from '../lib/interleave.mjs';
import { WORK } from '../lib/paths.mjs';
import { floor, spawnFloor, taskflowJson, taskflowYaml } from '../lib/taskflow.mjs';
import { createWorkspace } from '../lib/workspace.mjs';

const WARM_RUNS_PER_ROUND = 3;

/** Chains and fans: cold, warm (everything reused), one leaf changed, a fresh clone with an imported cache. */
export const graphs = {
  name: 'graphs',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, peers, say }) {
    for (const shape of SHAPES) {
      for (const size of options.sizes) {
        const id = `${shape}-${size}`;
        const contenders = [floor, taskflowJson, taskflowYaml, spawnFloor, ...peers];
        say(`${shape} of ${size}: ${contenders.map(({ name }) => name).join(', ')}`);
        results.addTable({
          id,
          title: `A ${shape} of ${size.toLocaleString('en-US')} phases`,
          base: 'floor',
          unit: 'ms',
        });
        results.addAll(id, await measureGraph(makeGraph(shape, size), contenders, options));
      }
    }
  },
};

async function measureGraph(graph, contenders, options) {
  const opened = [];
  for (const contender of contenders) {
    const dir = `${WORK}/graphs/${contender.name.replaceAll(/\W+/g, '-')}`;
    const workspace = createWorkspace(dir, graph);
    opened.push({ contender, workspace, session: await contender.open(workspace) });
  }
  const cases = opened.map(({ contender, workspace, session }) => ({
    name: contender.name,
    sample: () => sampleRound(workspace, session, contender === spawnFloor),
  }));
  try {
    return await interleave(cases, options);
  } finally {
    for (const { session, workspace } of opened) {
      await session.close();
      workspace.remove();
    }
  }
}

async function sampleRound(workspace, session, coldOnly) {
  await session.clean();
  const cold = [await session.run()];
  if (coldOnly) return { cold };
  const warm = [];
  for (let i = 0; i < WARM_RUNS_PER_ROUND; i += 1) warm.push(await session.run());
  await sleep(EDIT_PAUSE_MS);
  workspace.editLeaf();
  const leaf = [await session.run()];
  const samples = { cold, warm, 'one leaf changed': leaf };
  if (!session.keepOnlyResults) return samples;
  session.keepOnlyResults();
  return { ...samples, 'imported cache': [await session.run()] };
}
