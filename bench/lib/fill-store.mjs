// Fills a project’s store with valid entries, through the store’s own code: `node fill-store.mjs PROJECT N [FROM]`.
// Ten flows of a hundred phases; every tenth entry has a kept file.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ROOT } from './paths.mjs';

const SOURCE = `export { openStore } from './src/store/disk-store.ts';
export { recomputeKey } from './src/memo/identity.ts';`;

/** The store's code as one module. @param {string} outfile */
export async function bundleStore(outfile) {
  await build({
    stdin: { contents: SOURCE, resolveDir: ROOT, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}

/** About 1 KB: a script with a short output. */
export function entryOf(i, recomputeKey) {
  const flow = `flow-${i % 10}`;
  const phase = `p${Math.floor(i / 10) % 100}`;
  const identity = { ...EMPTY, flow, phase, body: { run: ['cat', `in/${i}.txt`] } };
  return {
    format: 1,
    key: recomputeKey(identity),
    identity,
    createdAt: Date.now(),
    creator: { taskflow: '0.0.0' },
    runId: `run-${Math.floor(i / 1000)}`,
    flow,
    phase,
    output: { text: `line of ${i}. `.repeat(30), json: null },
    files: [],
    usage: { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, usd: 0 },
    durationMs: 1,
  };
}

const EMPTY = {
  version: 1,
  kind: 'script',
  ordinal: 0,
  agent: null,
  context: [],
  cwd: '',
  env: {},
  expect: null,
  fingerprints: [],
  output: 'text',
  outputs: [],
  upstream: [],
};

/** @param {string} project @param {number} count @param {number} [from] */
export async function fillStore(project, count, from = 0) {
  const bundle = `${tmpdir()}/fill-store-${process.pid}.mjs`;
  const { openStore, recomputeKey } = await bundleStore(bundle);
  rmSync(bundle);
  const dir = `${project}/.pi/taskflows/cache`;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const clock = { now: () => Date.now(), elapsed: () => performance.now() };
  const limits = { maxBytes: 1024 ** 4, maxEntries: 1e9, maxAgeMs: 1e12 };
  const store = openStore({ dir, project: { root: project, home: project, env: {}, clock }, limits });
  const file = `${project}/kept.txt`;
  for (let i = from; i < from + count; i += 1) {
    const entry = entryOf(i, recomputeKey);
    if (i % 10 === 9) {
      writeFileSync(file, `the file of ${i}\n`);
      const { digest, mode } = store.blobs.keep(file);
      entry.files = [{ path: `out/${i}.txt`, digest, mode }];
    }
    const result = store.put(entry);
    if (!result.stored) throw new Error(result.reason);
  }
  store.log.flush();
  rmSync(file, { force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [project = '', count = '0', from = '0'] = process.argv.slice(2);
  await fillStore(project, Number(count), Number(from));
}
