import { createCallsProject } from '../calls/taskflow.mjs';
import { interleave } from '../lib/interleave.mjs';
import { FLOOR } from '../lib/paths.mjs';
import { measureNode } from '../lib/usage.mjs';

const AT_ONCE = 20;
/** As short as an agent's command can be: a shell that reads its question, thinks for a moment and answers. */
const AGENT = 'question=$(cat)\nsleep 0.05\necho "An answer to $question"\n';

/** Calls of a `command` runner beside a plain loop that spawns the same program. */
export const command = {
  name: 'command',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    const calls = options.quick ? 40 : 200;
    say(`command runner: ${calls} calls`);
    const id = `command-${calls}`;
    results.addTable({ id, title: `${calls} calls of a command, ${AT_ONCE} at once`, base: 'floor', unit: '' });
    const argv = ['sh', 'agent.sh'];
    const project = createCallsProject('command', { command: argv, version: '1' });
    project.write('agent.sh', AGENT);
    const over = Array.from({ length: calls }, (_, i) => `item ${i}`);
    // What it costs to see what a call reads is measured by `observe`.
    const cache = { observe: 'off' };
    const phase = { id: 'each', type: 'map', over, task: 'Describe {item}.', cache };
    project.write('flow.json', JSON.stringify({ name: 'calls', phases: [phase] }));
    const sample = (measure) => async () => {
      project.forget();
      const { wallMs, cpuMs } = await measure();
      return { 'wall, ms': [wallMs], 'CPU of the parent, ms': [cpuMs] };
    };
    const floorArgs = [`${FLOOR}/spawns.cjs`, String(calls), String(AT_ONCE), ...argv];
    const cases = [
      { name: 'floor', sample: sample(() => measureNode(floorArgs, project.dir)) },
      {
        name: 'taskflow',
        sample: sample(() => project.measure('run', './flow.json', '--concurrency', String(AT_ONCE))),
      },
    ];
    results.addAll(id, await interleave(cases, options));
    project.remove();
  },
};
