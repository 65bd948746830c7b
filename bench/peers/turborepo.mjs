import { writeFileSync } from 'node:fs';
import { commandContender } from '../lib/contender.mjs';
import { discard } from '../lib/discard.mjs';
import { makeRepository } from '../lib/git-repository.mjs';
import { installFromNpm, peerDir } from '../lib/install.mjs';

export const turborepo = commandContender({
  name: 'Turborepo',
  note: 'native task commands: no npm process per task',
  prepare: () => installFromNpm('turbo', { turbo: '2.11.10' }),
  write({ dir, graph, command }) {
    const tasks = Object.fromEntries(
      graph.phases.map(({ id, needs }) => [id, { command: command(id), dependsOn: needs, inputs: [`in/${id}.txt`] }]),
    );
    const manifest = { name: 'bench-work', private: true, packageManager: 'npm@10.0.0' };
    writeFileSync(`${dir}/package.json`, JSON.stringify(manifest));
    writeFileSync(
      `${dir}/package-lock.json`,
      JSON.stringify({ name: 'bench-work', lockfileVersion: 3, packages: { '': { name: 'bench-work' } } }),
    );
    writeFileSync(`${dir}/turbo.json`, JSON.stringify({ futureFlags: { experimentalTaskCommand: true }, tasks }));
    makeRepository(dir, ['.turbo', 'executions.log']);
  },
  command: ({ graph }) => ({
    argv: [
      `${peerDir('turbo')}/node_modules/.bin/turbo`,
      'run',
      graph.last,
      '--concurrency=8',
      '--output-logs=new-only',
    ],
    env: { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
  }),
  clean: ({ dir }) => discard(`${dir}/.turbo`),
});
