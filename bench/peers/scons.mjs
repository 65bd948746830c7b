import { writeFileSync } from 'node:fs';
import { commandContender } from '../lib/contender.mjs';
import { findOnPath } from '../lib/install.mjs';
import { forgetOutputs, inputsOf, outputOf, shellCommand } from '../lib/output-files.mjs';

const PROGRAM = `import json, os

env = Environment(ENV={'PATH': os.environ['PATH']})
with open('phases.json') as file:
    for phase in json.load(file):
        env.Command(phase['target'], phase['source'], phase['action'])
`;

export const scons = commandContender({
  name: 'scons',
  prepare: () => findOnPath('scons'),
  write(workspace) {
    const phases = workspace.graph.phases.map((phase) => ({
      target: outputOf(phase.id),
      source: inputsOf(phase),
      action: shellCommand(workspace, phase.id),
    }));
    writeFileSync(`${workspace.dir}/phases.json`, JSON.stringify(phases));
    writeFileSync(`${workspace.dir}/SConstruct`, PROGRAM);
    forgetOutputs(workspace);
  },
  command: ({ graph }) => ({ argv: ['scons', '-Q', '-s', '-j8', outputOf(graph.last)] }),
  clean: (workspace) => forgetOutputs(workspace, ['.sconsign.dblite']),
});
