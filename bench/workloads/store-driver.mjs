// Fills stores of several sizes and measures them in turns, in a process of its own. Prints JSON: samples in
// microseconds, by number of entries and measure. `node store-driver.mjs BUNDLE DIR ROUNDS SIZE…`
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const OPERATIONS_PER_ROUND = 100;
const [bundle = '', dir = '', rounds = '', ...sizes] = process.argv.slice(2);
const { openStore } = await import(pathToFileURL(bundle).href);
const clock = { now: () => Date.now(), elapsed: () => performance.now() };
const keyOf = (name) => createHash('sha256').update(name).digest('hex');

/** About 2 KB, as an entry of an agent phase with a short answer has. */
function entry(key) {
  const text = 'A sentence of the answer that the phase gave. '.repeat(20);
  return {
    format: 1,
    key,
    identity: {
      version: 1,
      flow: 'bench',
      phase: 'p',
      kind: 'script',
      body: { run: ['cat', key], note: 'x'.repeat(300) },
    },
    createdAt: Date.now(),
    creator: { taskflow: '0.0.0' },
    runId: 'bench',
    flow: 'bench',
    phase: 'p',
    output: { text, json: null },
    files: [],
    usage: { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, usd: 0 },
    durationMs: 1,
  };
}

function fill(size) {
  const folder = `${dir}/${size}`;
  mkdirSync(folder, { recursive: true });
  const project = { root: dir, home: dir, env: {}, clock };
  const limits = { maxBytes: 1024 ** 4, maxEntries: 10_000_000, maxAgeMs: 1e12 };
  const store = openStore({ dir: folder, project, limits });
  const keys = Array.from({ length: size }, (_, i) => keyOf(`filled ${i}`));
  for (const key of keys) mustStore(store.put(entry(key)));
  return { size, folder, store, keys, fresh: 0 };
}

function mustStore(result) {
  if (!result.stored) throw new Error(result.reason);
}

const freshKey = (state) => keyOf(`fresh ${state.fresh++}`);
/** Spread over the folder, the same for every measure of a round. */
const someKey = (state, i, round) => state.keys[(i * 7919 + round * 104_729) % state.size];

const MEASURES = {
  put: (state) => mustStore(state.store.put(entry(freshKey(state)))),
  'claim and put': async (state) => {
    const key = freshKey(state);
    const { claim } = await state.store.claim(key, {});
    mustStore(claim.put(entry(key)));
  },
  'write and rename (floor)': (state) => {
    const path = `${state.folder}/${freshKey(state)}`;
    writeFileSync(`${path}.tmp`, JSON.stringify(entry(path)));
    renameSync(`${path}.tmp`, `${path}.json`);
  },
  get: (state, i, round) => {
    const result = state.store.get(someKey(state, i, round), { now: Date.now() });
    if (!result.entry) throw new Error(`a filled key missed: ${result.miss.reason}`);
  },
  'read and parse (floor)': (state, i, round) =>
    JSON.parse(readFileSync(`${state.folder}/${someKey(state, i, round)}.json`, 'utf8')),
};

const states = sizes.map((size) => fill(Number(size)));
const samples = Object.fromEntries(states.map(({ size }) => [size, {}]));
for (let round = 0; round < Number(rounds); round += 1) {
  for (const [name, operation] of Object.entries(MEASURES)) {
    for (const state of states) {
      const started = performance.now();
      for (let i = 0; i < OPERATIONS_PER_ROUND; i += 1) await operation(state, i, round);
      const micros = ((performance.now() - started) * 1000) / OPERATIONS_PER_ROUND;
      // The first round warms the code up.
      if (round > 0) samples[state.size][name] = [...(samples[state.size][name] ?? []), micros];
    }
  }
}
process.stdout.write(JSON.stringify(samples));
