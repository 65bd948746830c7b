import { writeFileSync } from 'node:fs';
import { commandContender } from '../lib/contender.mjs';
import { findOnPath } from '../lib/install.mjs';
import { forgetOutputs, inputsOf, outputOf, shellCommand } from '../lib/output-files.mjs';

const PROGRAM = `import json

def task_phase():
    with open('phases.json') as file:
        for phase in json.load(file):
            yield phase
`;

export const doit = commandContender({
  name: 'doit',
  prepare: () => findOnPath('doit'),
  write(workspace) {
    const phases = workspace.graph.phases.map((phase) => ({
      name: phase.id,
      file_dep: inputsOf(phase),
      targets: [outputOf(phase.id)],
      actions: [shellCommand(workspace, phase.id)],
    }));
    writeFileSync(`${workspace.dir}/phases.json`, JSON.stringify(phases));
    writeFileSync(`${workspace.dir}/dodo.py`, PROGRAM);
    forgetOutputs(workspace);
  },
  command: ({ graph }) => ({ argv: ['doit', 'run', '-n', '8', '-P', 'thread', `phase:${graph.last}`] }),
  clean: (workspace) =>
    forgetOutputs(workspace, ['.doit.db', '.doit.db.db', '.doit.db.dat', '.doit.db.dir', '.doit.db.bak']),
});
