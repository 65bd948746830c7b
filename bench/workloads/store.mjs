import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { ROOT, WORK } from '../lib/paths.mjs';
import { summarize } from '../lib/statistics.mjs';

const DRIVER = fileURLToPath(new URL('./store-driver.mjs', import.meta.url));
const execute = promisify(execFile);

/** `put` and `get` in stores of growing size; what they cost must not grow with it. */
export const store = {
  name: 'store',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    const sizes = options.quick ? [100, 1000, 10_000] : [100, 10_000, 100_000];
    say(`store: ${sizes.join(', ')} entries`);
    results.addTable({ id: 'store', title: 'One operation on the store', base: entries(sizes[0]), unit: 'µs' });
    for (const [size, columns] of Object.entries(await measureStores(sizes, options.rounds * 3))) {
      for (const [column, values] of Object.entries(columns)) {
        results.add('store', entries(Number(size)), column, summarize(values));
      }
    }
  },
};

/** @param {number} size */
export const entries = (size) => `${size.toLocaleString('en-US')} entries`;

/** @param {number[]} sizes @param {number} rounds @returns {Promise<Record<string, Record<string, number[]>>>} */
export async function measureStores(sizes, rounds) {
  const bundle = `${WORK}/store.mjs`;
  await build({
    entryPoints: [`${ROOT}/src/store/disk-store.ts`],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
  const dir = `${WORK}/store`;
  rmSync(dir, { recursive: true, force: true });
  try {
    const { stdout } = await execute('node', [DRIVER, bundle, dir, String(rounds), ...sizes.map(String)]);
    return JSON.parse(stdout);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
