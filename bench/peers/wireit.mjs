import { writeFileSync } from 'node:fs';
import { commandContender } from '../lib/contender.mjs';
import { discard } from '../lib/discard.mjs';
import { installFromNpm, peerDir } from '../lib/install.mjs';

export const wireit = commandContender({
  name: 'wireit',
  note: "started directly with npm's variables set, so without npm's own start-up",
  prepare: () => installFromNpm('wireit', { wireit: '0.14.13' }),
  write({ dir, graph, command }) {
    const scripts = {};
    const definitions = {};
    for (const { id, needs } of graph.phases) {
      scripts[id] = 'wireit';
      definitions[id] = {
        command: command(id).join(' '),
        dependencies: needs,
        files: [`in/${id}.txt`],
        output: [],
      };
    }
    const manifest = { name: 'bench-work', private: true, scripts, wireit: definitions };
    writeFileSync(`${dir}/package.json`, JSON.stringify(manifest));
  },
  command: ({ dir, graph }) => ({
    argv: ['node', `${peerDir('wireit')}/node_modules/wireit/bin/wireit.js`],
    env: {
      npm_command: 'run-script',
      npm_lifecycle_event: graph.last,
      npm_package_json: `${dir}/package.json`,
      npm_config_user_agent: 'npm/10.0.0',
      WIREIT_PARALLEL: '8',
      WIREIT_LOGGER: 'quiet-ci',
    },
  }),
  clean: ({ dir }) => discard(`${dir}/.wireit`),
});
