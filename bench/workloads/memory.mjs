import { makeGraph, SHAPES } from '../lib/graph.mjs';
import { interleave } from '../lib/interleave.mjs';
import { WORK } from '../lib/paths.mjs';
import { TASKFLOW, taskflowJson } from '../lib/taskflow.mjs';
import { measureNode } from '../lib/usage.mjs';
import { createWorkspace } from '../lib/workspace.mjs';

/** The highest resident size of one process, in MB. @param {string[]} args @param {string} cwd */
export async function peakMemory(args, cwd) {
  return (await measureNode(args, cwd)).peakMb;
}

export const memory = {
  name: 'memory',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    const size = Math.max(...options.sizes);
    say(`peak memory with ${size} phases`);
    const id = `memory-${size}`;
    results.addTable({
      id,
      title: `Peak memory, ${size.toLocaleString('en-US')} phases`,
      base: 'node -e 0',
      unit: 'MB',
    });
    const cases = [{ name: 'node -e 0', sample: emptyProgram }];
    const workspaces = [];
    for (const shape of SHAPES) {
      const workspace = createWorkspace(`${WORK}/memory/${shape}`, makeGraph(shape, size));
      workspaces.push(workspace);
      cases.push({ name: `taskflow, ${shape}`, sample: await coldAndWarm(workspace) });
    }
    results.addAll(id, await interleave(cases, { ...options, rounds: 3 }));
    for (const workspace of workspaces) workspace.remove();
  },
};

async function emptyProgram() {
  const peak = await peakMemory(['-e', '0'], WORK);
  return { cold: [peak], warm: [peak] };
}

async function coldAndWarm(workspace) {
  const session = await taskflowJson.open(workspace);
  const run = () => peakMemory([TASKFLOW, 'run', './flow.json'], workspace.dir);
  return async () => {
    await session.clean();
    return { cold: [await run()], warm: [await run()] };
  };
}
