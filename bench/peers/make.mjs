import { writeFileSync } from 'node:fs';
import { commandContender } from '../lib/contender.mjs';
import { findOnPath } from '../lib/install.mjs';
import { forgetOutputs, inputsOf, outputOf, shellCommand } from '../lib/output-files.mjs';

function writeMakefile(workspace) {
  const { dir, graph } = workspace;
  const rules = graph.phases.map(
    (phase) => `${outputOf(phase.id)}: ${inputsOf(phase).join(' ')}\n\t${shellCommand(workspace, phase.id)}\n`,
  );
  writeFileSync(`${dir}/Makefile`, `all: ${outputOf(graph.last)}\n${rules.join('')}`);
  forgetOutputs(workspace);
}

const variant = (name, flags) =>
  commandContender({
    name,
    prepare: () => findOnPath('make'),
    write: writeMakefile,
    command: () => ({ argv: ['make', ...flags, '-s', '-j8', 'all'] }),
    clean: (workspace) => forgetOutputs(workspace),
  });

export const make = variant('make', []);
/** Without the built-in rules, which make otherwise tries on every file. */
export const makeWithoutRules = variant('make -r', ['-r']);
