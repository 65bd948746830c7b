import { chmodSync, mkdirSync } from 'node:fs';
import { interleave } from '../lib/interleave.mjs';
import { createProject } from '../lib/project.mjs';

/** Writes the flow when it is asked for one, and answers the flow's own task. A shell starts faster than Node. */
const AGENT = `#!/bin/sh
case "$(cat)" in
  *'Write a flow for the program taskflow'*) echo '{"phases": [{"id": "say", "task": "Say {args.word}"}]}' ;;
  *) echo 'said' ;;
esac
`;
const REQUEST = ['Say a word', '--input', 'in.json', '--output', 'out.json', '--example', 'case.json'];
const RUNS_PER_ROUND = 3;

/** What it costs to take a flow that an agent has made, beside the same flow in a file. Both call one agent. */
export const assemble = {
  name: 'assemble',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    say('assembled flows');
    results.addTable({ id: 'assemble', title: 'A flow that exists, run once', base: 'taskflow run', unit: 'ms' });
    const project = createProject('assemble');
    mkdirSync(`${project.dir}/.pi/taskflows`);
    project.write('agent.sh', AGENT);
    chmodSync(`${project.dir}/agent.sh`, 0o755);
    project.write('.pi/taskflows/config.yaml', 'runner: mine\nrunners:\n  mine: { command: [./agent.sh] }\n');
    project.write('in.json', '{"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}');
    project.write('out.json', '{"type": "string"}');
    project.write('case.json', '{"input": {"word": "a"}, "output": "said"}');
    project.write('flow.json', '{"args": {"word": {}}, "phases": [{"id": "say", "task": "Say {args.word}"}]}');
    await project.taskflow('assemble', ...REQUEST);
    const cases = [
      repeated('taskflow run', () => project.taskflow('run', './flow.json', 'word=b', '--fresh')),
      repeated('taskflow assemble --run', () => project.taskflow('assemble', ...REQUEST, '--run', 'word=b', '--yes')),
    ];
    results.addAll('assemble', await interleave(cases, { ...options, rounds: options.rounds * 3 }));
    project.remove();
  },
};

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
