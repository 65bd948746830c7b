import { symlinkSync, writeFileSync } from 'node:fs';
import { commandContender } from '../lib/contender.mjs';
import { makeRepository } from '../lib/git-repository.mjs';
import { installFromNpm, peerDir } from '../lib/install.mjs';
import { forgetOutputs, outputOf, shellCommand } from '../lib/output-files.mjs';

export const nx = commandContender({
  name: 'Nx',
  note: 'without its daemon',
  prepare: () => installFromNpm('nx', { nx: '24.0.0' }),
  write(workspace) {
    const { dir, graph } = workspace;
    // Between targets of one project only output files carry a change, so results are files here.
    const targets = Object.fromEntries(
      graph.phases.map(({ id, needs }) => [
        id,
        {
          executor: 'nx:run-commands',
          cache: true,
          dependsOn: needs,
          inputs: [`{workspaceRoot}/in/${id}.txt`, { dependentTasksOutputFiles: '**/*.txt' }],
          outputs: [`{workspaceRoot}/${outputOf(id)}`],
          options: { command: shellCommand(workspace, id) },
        },
      ]),
    );
    writeFileSync(`${dir}/package.json`, JSON.stringify({ name: 'bench-work', private: true }));
    writeFileSync(`${dir}/nx.json`, JSON.stringify({ analytics: false, neverConnectToCloud: true }));
    writeFileSync(`${dir}/project.json`, JSON.stringify({ name: 'work', root: '.', targets }));
    symlinkSync(`${peerDir('nx')}/node_modules`, `${dir}/node_modules`);
    forgetOutputs(workspace);
    makeRepository(dir, ['node_modules', '.nx', 'out', 'executions.log']);
  },
  command: ({ graph }) => ({
    argv: ['node', 'node_modules/.bin/nx', 'run', `work:${graph.last}`, '--parallel=8', '--outputStyle=static'],
    env: {
      NX_DAEMON: 'false',
      NX_NO_CLOUD: 'true',
      NX_TUI: 'false',
      NX_ISOLATE_PLUGINS: 'false',
      NX_CACHE_DIRECTORY: '.nx/cache',
    },
  }),
  clean: (workspace) => forgetOutputs(workspace, ['.nx']),
});
