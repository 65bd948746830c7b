import { makeGraph } from '../lib/graph.mjs';
import { interleave } from '../lib/interleave.mjs';
import { WORK } from '../lib/paths.mjs';
import { runProcess } from '../lib/run-process.mjs';
import { floor, TASKFLOW, taskflowJson, taskflowYaml } from '../lib/taskflow.mjs';
import { createWorkspace } from '../lib/workspace.mjs';

const RUNS_PER_ROUND = 3;

/** What a person waits for before anything happens. */
export const startup = {
  name: 'startup',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    say('start-up');
    results.addTable({ id: 'startup', title: 'Start-up', base: 'node -e 0', unit: 'ms' });
    const cases = [
      command('node -e 0', ['node', '-e', '0']),
      command('taskflow --version', ['node', TASKFLOW, '--version']),
      await onePhase(floor, 'floor, one phase warm'),
      await onePhase(taskflowJson, 'taskflow run, one phase warm'),
      await onePhase(taskflowYaml, 'taskflow run, one phase warm (YAML)'),
    ];
    results.addAll('startup', await interleave(cases, { ...options, rounds: options.rounds * 3 }));
  },
};

function command(name, argv) {
  return repeated(name, () => runProcess({ argv, cwd: WORK }));
}

async function onePhase(contender, name) {
  const workspace = createWorkspace(`${WORK}/startup/${contender.name.replaceAll(/\W+/g, '-')}`, makeGraph('chain', 1));
  const session = await contender.open(workspace);
  let primed = false;
  return repeated(name, async () => {
    if (!primed) await session.run();
    primed = true;
    return session.run();
  });
}

function repeated(name, once) {
  return {
    name,
    sample: async () => {
      const time = [];
      for (let i = 0; i < RUNS_PER_ROUND; i += 1) time.push(await once());
      return { time };
    },
  };
}
