import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { commandContender } from '../lib/contender.mjs';
import { makeRepository } from '../lib/git-repository.mjs';
import { installFromNpm, peerDir } from '../lib/install.mjs';
import { forgetOutputs, inputsOf, outputOf, shellCommand } from '../lib/output-files.mjs';

/** Replaces npm, whose start-up of some 150 ms per task is not lage's: `npm run ID` becomes the phase's command. */
const npmStandIn = (commandOfId) => `#!/bin/sh
for word in "$@"; do
  case "$word" in p[0-9]*) ${commandOfId}; exit ;; esac
done
exit 1
`;

export const lage = commandContender({
  name: 'lage',
  note: 'with a small stand-in for npm, so without its start-up per task',
  prepare: () => installFromNpm('lage', { lage: '2.17.0' }),
  write(workspace) {
    const { dir, graph } = workspace;
    const scripts = Object.fromEntries(graph.phases.map(({ id }) => [id, shellCommand(workspace, id)]));
    // Between targets of one package only files carry a change, so results are files here.
    const pipeline = Object.fromEntries(
      graph.phases.map((phase) => [
        phase.id,
        { dependsOn: phase.needs, inputs: inputsOf(phase), outputs: [outputOf(phase.id)] },
      ]),
    );
    const manifest = { name: 'bench-work', version: '1.0.0', private: true, workspaces: [], scripts };
    const config = {
      pipeline,
      npmClient: 'npm',
      cacheOptions: { outputGlob: [], environmentGlob: ['lage.config.js'] },
    };
    writeFileSync(`${dir}/package.json`, JSON.stringify(manifest));
    writeFileSync(
      `${dir}/package-lock.json`,
      JSON.stringify({ name: 'bench-work', lockfileVersion: 3, packages: { '': { name: 'bench-work' } } }),
    );
    writeFileSync(`${dir}/lage.config.js`, `module.exports = ${JSON.stringify(config)};\n`);
    mkdirSync(`${dir}/bin`, { recursive: true });
    writeFileSync(`${dir}/bin/npm`, npmStandIn(shellCommand(workspace, '$word')));
    chmodSync(`${dir}/bin/npm`, 0o755);
    forgetOutputs(workspace);
    makeRepository(dir, ['node_modules', 'out', 'executions.log']);
  },
  command: ({ dir, graph }) => ({
    argv: ['node', `${peerDir('lage')}/node_modules/lage/dist/lage.js`, 'run', graph.last, '--concurrency', '8'],
    env: { PATH: `${dir}/bin:${process.env.PATH}`, LAGE_DISABLE_TELEMETRY: '1' },
  }),
  clean: (workspace) => forgetOutputs(workspace, ['node_modules']),
});
