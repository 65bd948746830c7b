import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { interleave } from '../lib/interleave.mjs';
import { ROOT, WORK } from '../lib/paths.mjs';
import { createProject } from '../lib/project.mjs';
import { summarize } from '../lib/statistics.mjs';

const DRIVER = fileURLToPath(new URL('./shared-driver.mjs', import.meta.url));
const execute = promisify(execFile);

/** A shared cache: what a hit and a look-up cost beside plain requests, and what having one costs a warm run. */
export const shared = {
  name: 'shared',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    const lookups = options.quick ? 200 : 1000;
    say(`shared cache: ${lookups} look-ups`);
    results.addTable({ id: 'shared', title: 'A shared cache, 2 ms away', base: 'plain GET', unit: 'ms' });
    for (const [row, columns] of Object.entries(await measureShared(options.rounds * 3, lookups))) {
      for (const [column, values] of Object.entries(columns)) results.add('shared', row, column, summarize(values));
    }
    results.addTable({ id: 'shared-warm', title: 'A warm run beside a shared cache', base: 'without', unit: 'ms' });
    const cases = [warmRun('without', {}), warmRun('configured', { remote: { url: 'http://127.0.0.1:9/' } })];
    results.addAll('shared-warm', await interleave(cases, { ...options, rounds: options.rounds * 3 }));
  },
};

/** @param {number} rounds @param {number} lookups @returns {Promise<Record<string, Record<string, number[]>>>} */
async function measureShared(rounds, lookups) {
  const bundle = `${WORK}/shared.mjs`;
  const names = ['openShared', 'openStore', 'newKeyPair', 'systemClock'];
  const files = ['remote/open-shared', 'store/disk-store', 'remote/trust', 'util/clock'];
  await build({
    stdin: {
      contents: files.map((file, index) => `export { ${names[index]} } from './src/${file}.js';`).join('\n'),
      resolveDir: ROOT,
    },
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
  const { stdout } = await execute('node', [DRIVER, bundle, `${WORK}/shared`, String(rounds), String(lookups)]);
  return JSON.parse(stdout);
}

/** The engine itself, and not the snapshot, answers a run with a flag. */
function warmRun(name, cache) {
  const project = createProject(`shared-${name}`);
  const phases = Array.from({ length: 500 }, (_, index) => ({
    id: `p${index}`,
    type: 'script',
    run: ['echo', `${index}`],
    cache: { scope: 'cross-run' },
  }));
  mkdirSync(`${project.dir}/.pi/taskflows`, { recursive: true });
  project.write('.pi/taskflows/config.yaml', JSON.stringify({ cache: { trust: 'none', ...cache } }));
  project.write('flow.json', JSON.stringify({ name: 'warm', phases }));
  let primed = false;
  return {
    name,
    sample: async () => {
      if (!primed) await project.taskflow('run', './flow.json', '--quiet', '--no-remote');
      primed = true;
      const run = () => project.taskflow('run', './flow.json', '--quiet', '--concurrency', '8');
      return { time: [await run(), await run(), await run()] };
    },
  };
}
