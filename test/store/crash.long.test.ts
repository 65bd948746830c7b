import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { KnownStats } from '../../src/memo/files/known-stats.js';
import { restoreOutputs } from '../../src/memo/restore-outputs.js';
import { collectGarbage } from '../../src/store/collect-garbage.js';
import { openStore } from '../../src/store/disk-store.js';
import { exportArchive } from '../../src/store/export-archive.js';
import { entryPath } from '../../src/store/paths.js';
import { verifyStore } from '../../src/store/verify-store.js';
import { key, LIMITS, makeEntry, type Scratch, scratch } from '../contracts/store-support.js';
import { bundleWorker } from './processes.js';

let bundle: string;
let place: Scratch;
beforeAll(async () => {
  bundle = await bundleWorker('crash-worker.ts');
});
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.remove());

/** What the worker printed; empty when it was killed. */
function run(task: string, count: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [bundle, task, place.root, count], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.on('close', () => resolve(text));
  });
}

/** With modes and times, which `cpSync` does not keep of folders in every version of Node. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}

async function prepare(): Promise<void> {
  rmSync(place.root, { recursive: true, force: true });
  mkdirSync(place.root);
  const store = openStore(place.options());
  store.put(makeEntry('new'));
  await exportArchive(place.options(), join(place.root, 'archive'));
  rmSync(entryPath(place.dir, key('new')));
  store.put(makeEntry('old'));
  store.put(makeEntry('other', { flow: 'other' }));
  utimesSync(entryPath(place.dir, key('other')), 1e9, 1e9);
  mkdirSync(join(place.root, 'out'));
  writeFileSync(join(place.root, 'out/a'), 'file a');
  writeFileSync(join(place.root, 'out/b'), 'file b');
}

/** After any crash: what was there is right or gone as asked, what was new is whole or absent, and work goes on. */
async function expectSound(task: string): Promise<void> {
  const { project } = place.options();
  const store = openStore(place.options());
  const now = Date.now();
  expect(store.get(key('old'), { now })).toMatchObject({ entry: { output: { text: 'output of old' } } });
  const other = store.get(key('other'), { now });
  if (!['collect', 'clear'].includes(task)) expect(other).toHaveProperty('entry');
  else if ('miss' in other) expect(other.miss.code).toBe('absent');
  const got = store.get(key('new'), { now });
  if ('miss' in got) expect(got.miss.code).toBe('absent');
  else {
    const restored = await restoreOutputs(got.entry.files, {
      project,
      store,
      stats: new KnownStats(project),
      outputs: ['out/**'],
    });
    expect(restored).toHaveProperty('restored');
  }
  const turn = await store.claim(key('third'), { signal: AbortSignal.timeout(6_000) });
  if ('claim' in turn) expect(turn.claim.put(makeEntry('third'))).toEqual({ stored: true });
  const again = await store.claim(key('new'), { signal: AbortSignal.timeout(6_000) });
  expect('claim' in again || 'ready' in again, JSON.stringify(again)).toBe(true);
  if ('claim' in again) again.claim.put(makeEntry('new'));
  expect(store.get(key('new'), { now: Date.now() })).toHaveProperty('entry');

  // Left by a dead process, and an hour old at most: gone with the next collection.
  age(place.dir, 2 * 3_600);
  const later = { ...project, clock: { ...project.clock, now: () => Date.now() } };
  await collectGarbage({ ...place.options(), project: later }, { limits: LIMITS });
  const left = readdirSync(place.dir).filter((name) => /\.(tmp|claim|guard)$/.test(name));
  expect(left).toEqual([]);
  expect(await verifyStore(place.options())).toMatchObject([
    { name: 'folder', problems: [] },
    { name: 'entries', problems: [] },
    { name: 'files', problems: [] },
    { name: 'leftovers', problems: [] },
    { name: 'index', problems: [] },
  ]);
}

function age(dir: string, seconds: number): void {
  const at = Date.now() / 1_000 - seconds;
  for (const name of readdirSync(dir)) if (/\.(tmp|guard)$|lock$/.test(name)) utimesSync(join(dir, name), at, at);
}

describe('kill -9 between any two file operations of', () => {
  test.each(['put', 'claim', 'files', 'collect', 'clear', 'import'])(
    '%s loses nothing, serves nothing torn, and blocks nobody',
    async (task) => {
      await prepare();
      const template = `${place.root}-template`;
      copy(place.root, template);
      const operations = Number(await run(task, 'count'));
      expect(operations).toBeGreaterThan(3);
      for (let count = 0; count < operations; count++) {
        rmSync(place.root, { recursive: true, force: true });
        copy(template, place.root);
        expect(await run(task, String(count)), `${task} at ${count}`).toBe('');
        try {
          await expectSound(task);
        } catch (error) {
          throw new Error(`${task}, killed at operation ${count} of ${operations}`, { cause: error });
        }
      }
      rmSync(template, { recursive: true });
      expect(existsSync(template)).toBe(false);
    },
    120_000,
  );
});
