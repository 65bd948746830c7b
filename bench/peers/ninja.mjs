import { writeFileSync } from 'node:fs';
import { commandContender } from '../lib/contender.mjs';
import { findOnPath } from '../lib/install.mjs';
import { forgetOutputs, inputsOf, outputOf, shellCommand } from '../lib/output-files.mjs';

export const ninja = commandContender({
  name: 'ninja',
  prepare: () => findOnPath('ninja'),
  write(workspace) {
    const builds = workspace.graph.phases.map(
      (phase) =>
        `build ${outputOf(phase.id)}: sh ${inputsOf(phase).join(' ')}\n  cmd = ${shellCommand(workspace, phase.id)}\n`,
    );
    writeFileSync(`${workspace.dir}/build.ninja`, `rule sh\n  command = $cmd\n${builds.join('')}`);
    forgetOutputs(workspace);
  },
  command: ({ graph }) => ({ argv: ['ninja', '--quiet', '-j8', outputOf(graph.last)] }),
  clean: (workspace) => forgetOutputs(workspace, ['.ninja_log', '.ninja_deps']),
});
