import { writeFileSync } from 'node:fs';
import { commandContender } from '../lib/contender.mjs';
import { findOnPath } from '../lib/install.mjs';
import { forgetOutputs, inputsOf, outputOf, shellCommand } from '../lib/output-files.mjs';

const quoted = (paths) => paths.map((path) => `"${path}"`).join(', ');

export const snakemake = commandContender({
  name: 'Snakemake',
  prepare: () => findOnPath('snakemake'),
  write(workspace) {
    const rules = workspace.graph.phases.map(
      (phase) =>
        `rule ${phase.id}:\n  input: ${quoted(inputsOf(phase))}\n  output: "${outputOf(phase.id)}"\n` +
        `  shell: "${shellCommand(workspace, phase.id)}"\n`,
    );
    writeFileSync(`${workspace.dir}/Snakefile`, rules.join(''));
    forgetOutputs(workspace);
  },
  command: ({ graph }) => ({ argv: ['snakemake', '--cores', '8', '--quiet', 'all', '--', outputOf(graph.last)] }),
  clean: (workspace) => forgetOutputs(workspace, ['.snakemake']),
});
