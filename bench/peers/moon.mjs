import { mkdirSync, writeFileSync } from 'node:fs';
import { commandContender } from '../lib/contender.mjs';
import { discard } from '../lib/discard.mjs';
import { makeRepository } from '../lib/git-repository.mjs';
import { installFromNpm, peerDir } from '../lib/install.mjs';

// JSON is YAML, so the generated configuration needs no YAML writer.
const WORKSPACE = {
  projects: { work: '.' },
  telemetry: false,
  vcs: { client: 'git', defaultBranch: 'main' },
};

export const moon = commandContender({
  name: 'moon',
  prepare: () => installFromNpm('moon', { '@moonrepo/cli': '2.5.5' }),
  write({ dir, graph, command }) {
    const tasks = Object.fromEntries(
      graph.phases.map(({ id, needs }) => [
        id,
        {
          command: command(id).join(' '),
          // By default a dependency without output files does not count.
          deps: needs.map((need) => ({ target: `~:${need}`, cacheStrategy: 'hash' })),
          inputs: [`in/${id}.txt`],
          toolchains: ['system'],
        },
      ]),
    );
    mkdirSync(`${dir}/.moon`, { recursive: true });
    writeFileSync(`${dir}/.moon/workspace.yml`, JSON.stringify(WORKSPACE));
    writeFileSync(`${dir}/moon.yml`, JSON.stringify({ language: 'unknown', tasks }));
    makeRepository(dir, ['.moon/cache', 'executions.log']);
  },
  command: ({ graph }) => ({
    argv: [`${peerDir('moon')}/node_modules/.bin/moon`, 'run', `work:${graph.last}`, '--concurrency', '8'],
  }),
  clean: ({ dir }) => discard(`${dir}/.moon/cache`),
});
