import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { recomputeKey } from '../../src/memo/identity.js';
import { candidatesFor, nearestEntry } from '../../src/memo/nearest-entry.js';
import type { StoredIdentity } from '../../src/memo/stored-identity.js';
import { type ClearRequest, clearEntries } from '../../src/store/clear-entries.js';
import { type Collected, collectGarbage } from '../../src/store/collect-garbage.js';
import { readMarker, writeMarker } from '../../src/store/collect-marker.js';
import { type DiskStore, openStore } from '../../src/store/disk-store.js';
import { newHolder } from '../../src/store/holder.js';
import { maybeCollect } from '../../src/store/maybe-collect.js';
import type { StoreLimits } from '../../src/store/options.js';
import { blobPath, claimPath, entryPath, MAINTENANCE } from '../../src/store/paths.js';
import { showEntry } from '../../src/store/show-entry.js';
import type { Entry } from '../../src/store/store.js';
import { storeStatus } from '../../src/store/store-status.js';
import { verifyStore } from '../../src/store/verify-store.js';
import { key, LIMITS, makeEntry, type Scratch, scratch } from '../contracts/store-support.js';
import { listEntries } from '../support/list-entries.js';
import { readIndex } from '../support/read-index.js';

let place: Scratch;
let store: DiskStore;
beforeEach(() => {
  place = scratch();
  store = openStore(place.options());
});
afterEach(() => place.remove());

const HOUR = 3_600_000;
const path = (name: string) => entryPath(place.dir, key(name));
const names = async () => (await listEntries(place.options())).map((row) => row.key);
const has = (name: string) => existsSync(path(name));

/** An entry that was last used so long ago. */
function used(name: string, agoMs: number, more: Partial<Entry> = {}): void {
  store.put(makeEntry(name, { createdAt: Date.now() - agoMs, ...more }));
  const at = (Date.now() - agoMs) / 1_000;
  utimesSync(path(name), at, at);
}

/** An entry with one kept file of this content. */
function withFile(name: string, content: string, agoMs: number): string {
  writeFileSync(join(place.root, 'file'), content);
  const kept = store.blobs.keep(join(place.root, 'file'));
  if ('failed' in kept) throw new Error(kept.failed);
  used(name, agoMs, { files: [{ path: `out/${name}`, ...kept }] });
  return blobPath(place.dir, kept.digest);
}

async function collect(limits: Partial<StoreLimits> = {}): Promise<Collected> {
  const result = await collectGarbage(place.options(), { limits: { ...LIMITS, ...limits } });
  if ('busy' in result) throw new Error(result.busy);
  return result;
}

describe('eviction', () => {
  test('takes the least recently used first, by number', async () => {
    used('old', 3 * HOUR);
    used('older', 4 * HOUR);
    used('new', 0);
    expect(await collect({ maxEntries: 2 })).toMatchObject({ removedEntries: 1, entries: 2 });
    expect([has('older'), has('old'), has('new')]).toEqual([false, true, true]);
  });

  test('a hit saves an entry that is old', async () => {
    used('old', 4 * HOUR);
    used('older', 5 * HOUR);
    expect(store.get(key('older'), { now: Date.now() })).toHaveProperty('entry');
    store.log.flush();
    await collect({ maxEntries: 1 });
    expect([has('older'), has('old')]).toEqual([true, false]);
  });

  test('by bytes, files included; a file that two entries share goes with the last of them', async () => {
    const shared = withFile('a', 'x'.repeat(10_000), 4 * HOUR);
    expect(withFile('b', 'x'.repeat(10_000), 3 * HOUR)).toBe(shared);
    const own = withFile('c', 'y'.repeat(10_000), 2 * HOUR);
    const all = (await storeStatus(place.options())).bytes;
    expect(all).toBeGreaterThan(20_000);
    const first = await collect({ maxBytes: all - 1 });
    expect([has('a'), has('b'), has('c')]).toEqual([false, true, true]);
    expect(first.bytes).toBeLessThan(all);
    expect(existsSync(shared)).toBe(true);
    const second = await collect({ maxBytes: 12_000 });
    expect([has('b'), has('c'), existsSync(shared), existsSync(own)]).toEqual([false, true, false, true]);
    expect(second).toMatchObject({ removedEntries: 1, removedBlobs: 1 });
    expect(second.freedBytes).toBeGreaterThan(10_000);
  });

  test('by age since the last use', async () => {
    used('ancient', 91 * 24 * HOUR);
    used('recent', 89 * 24 * HOUR);
    await collect();
    expect([has('ancient'), has('recent')]).toEqual([false, true]);
  });

  test('spares a file that an entry may be about to name', async () => {
    writeFileSync(join(place.root, 'file'), 'new');
    const kept = store.blobs.keep(join(place.root, 'file'));
    if ('failed' in kept) throw new Error(kept.failed);
    await collect({ maxBytes: 0 });
    expect(store.blobs.has(kept.digest)).toBe(true);
    utimesSync(blobPath(place.dir, kept.digest), 1, 1);
    expect(store.blobs.keep(join(place.root, 'file'))).toEqual(kept);
    await collect({ maxBytes: 0 });
    expect(store.blobs.has(kept.digest)).toBe(true);
    utimesSync(blobPath(place.dir, kept.digest), 1, 1);
    await collect();
    expect(store.blobs.has(kept.digest)).toBe(false);
  });

  test('clears up after processes that died, and not after those that live', async () => {
    store.put(makeEntry('a'));
    const claim = (name: string, holder: object) =>
      writeFileSync(claimPath(place.dir, key(name)), `{"holder":${JSON.stringify(holder)}\n`);
    claim('dead', { ...newHolder(), startTicks: 1 });
    claim('alive', newHolder());
    writeFileSync(`${path('x')}.12-1-abc.tmp`, `{"holder":${JSON.stringify({ ...newHolder(), startTicks: 1 })}\n`);
    writeFileSync(`${path('y')}.12-2-abc.tmp`, `{"holder":${JSON.stringify(newHolder())}\n,"for`);
    writeFileSync(`${path('z')}.12-3-abc.tmp`, '');
    utimesSync(`${path('z')}.12-3-abc.tmp`, 1, 1);
    expect(await collect()).toMatchObject({ leftovers: 3 });
    const left = readdirSync(place.dir).filter((name) => /claim|tmp/.test(name));
    expect(left.sort()).toEqual([`${key('alive')}.claim`, `${key('y')}.json.12-2-abc.tmp`].sort());
  });

  test('what a killed process was restoring or keeping goes after an hour, and nothing else there', async () => {
    store.put(makeEntry('a'));
    const names = [
      'restoring/app.js.12-1-abc.tmp',
      'blobs/ab/x.12-2-abc.tmp',
      'import-ab12.tmp/x',
      'restoring/new.12-3-abc.tmp',
    ];
    for (const name of [...names, 'restoring/mine.txt']) {
      mkdirSync(dirname(join(place.dir, name)), { recursive: true });
      writeFileSync(join(place.dir, name), 'half');
      if (!name.includes('new')) utimesSync(join(place.dir, name), 1, 1);
    }
    utimesSync(join(place.dir, 'import-ab12.tmp'), 1, 1);
    expect(await collect()).toMatchObject({ leftovers: 3 });
    expect(readdirSync(join(place.dir, 'restoring')).sort()).toEqual(['mine.txt', 'new.12-3-abc.tmp']);
    expect([readdirSync(join(place.dir, 'blobs/ab')), existsSync(join(place.dir, 'import-ab12.tmp'))]).toEqual([
      [],
      false,
    ]);
  });

  test('guards of those who died while they removed a dead claim go as well', async () => {
    store.put(makeEntry('a'));
    const guard = `${claimPath(place.dir, key('b'))}-${newHolder().id}.guard`;
    writeFileSync(guard, '');
    expect(await collect()).toMatchObject({ leftovers: 0 });
    utimesSync(guard, Date.now() / 1_000 - 120, Date.now() / 1_000 - 120);
    expect(await collect()).toMatchObject({ leftovers: 1 });
    expect(existsSync(guard)).toBe(false);
  });
});

describe('when a collection is due', () => {
  const limited = (limits: Partial<StoreLimits>) => openStore(place.options({ limits: { ...LIMITS, ...limits } }));

  test('a run that added nothing writes down its uses and touches nothing else', async () => {
    expect(await maybeCollect(store)).toBeUndefined();
    expect(existsSync(place.dir)).toBe(false);
    store.put(makeEntry('a'));
    await maybeCollect(store);
    const files = () => readdirSync(place.dir).filter((name) => name !== 'index.log');
    const before = files().map((name) => statSync(join(place.dir, name)).mtimeMs);
    const reader = openStore(place.options());
    reader.get(key('a'), { now: Date.now() });
    expect(await maybeCollect(reader)).toBeUndefined();
    expect(files().map((name) => statSync(join(place.dir, name)).mtimeMs)).toEqual(before);
    expect(readFileSync(join(place.dir, 'index.log'), 'utf8').trim().split('\n')).toHaveLength(1);
  });

  test('not for a store that the run itself has made, unless that passes a bound', async () => {
    store.put(makeEntry('a'));
    expect(await maybeCollect(store)).toBeUndefined();
    expect(readMarker(place.dir)).toMatchObject({ entries: 0, puts: 1, added: statSync(path('a')).size });
    rmSync(place.dir, { recursive: true });
    const small = limited({ maxEntries: 1 });
    for (const name of ['a', 'b']) small.put(makeEntry(name));
    expect(await maybeCollect(small)).toMatchObject({ entries: 1, removedEntries: 1 });
  });

  test('for a store of which nothing is known, and it leaves an index behind', async () => {
    openStore(place.options()).put(makeEntry('earlier'));
    store.put(makeEntry('a'));
    expect(await maybeCollect(store)).toMatchObject({ entries: 2 });
    const index = JSON.parse(readFileSync(join(place.dir, 'index.json'), 'utf8'));
    expect(index[key('a')]).toMatchObject({ flow: 'f', phaseId: 'p', runId: 'run-1', createdAt: expect.any(Number) });
    expect(index[key('a')]).toMatchObject({ usedAt: expect.any(Number), bytes: statSync(path('a')).size });
  });

  test('when a day has passed since the last one', async () => {
    store.put(makeEntry('a'));
    await collect();
    const known = readMarker(place.dir)!;
    for (const [marker, due] of [
      [{ ...known, at: known.at - 23 * HOUR }, false],
      [{ ...known, at: known.at - 25 * HOUR }, true],
    ] as const) {
      writeMarker(place.dir, marker);
      const run = openStore(place.options());
      run.put(makeEntry('a'));
      expect(await maybeCollect(run), JSON.stringify(marker)).toEqual(due ? expect.anything() : undefined);
    }
  });

  test('the rows of the index are those of the files: of wide texts, and of what others have put', async () => {
    store.put(makeEntry('a'));
    store.put(makeEntry('wide', { output: { text: '語'.repeat(100), json: null } }));
    store.put(makeEntry('replaced'));
    openStore(place.options()).put(
      makeEntry('replaced', { runId: 'another-run', output: { text: 'other', json: null } }),
    );
    openStore(place.options()).put(makeEntry('foreign', { runId: 'another-run' }));
    store.put(makeEntry('gone'));
    store.remove(key('gone'));
    await collect();
    const written = JSON.parse(readFileSync(join(place.dir, 'index.json'), 'utf8'));
    rmSync(join(place.dir, 'index.json'));
    const read = Object.fromEntries((await readIndex(place.options())).rows);
    expect(Object.keys(written).sort()).toEqual(['a', 'wide', 'replaced', 'foreign'].map(key).sort());
    expect(written).toEqual(read);
  });

  test('not for a few more; yes when a bound is passed, with the least recently used going first', async () => {
    for (let i = 0; i < 10; i++) used(`e${i}`, (20 - i) * HOUR);
    await maybeCollect(store);
    const second = limited({ maxEntries: 12 });
    second.put(makeEntry('x1'));
    expect(await maybeCollect(second)).toBeUndefined();
    const third = limited({ maxEntries: 12 });
    for (const name of ['x2', 'x3']) third.put(makeEntry(name));
    expect(await maybeCollect(third)).toMatchObject({ removedEntries: 1, entries: 12 });
    expect([has('e0'), has('e1')]).toEqual([false, true]);
  });
});

describe('clear', () => {
  async function clear(request: ClearRequest) {
    const cleared = await clearEntries(place.options(), request);
    if ('busy' in cleared) throw new Error(cleared.busy);
    return { ...cleared, keys: [...cleared.keys] };
  }
  beforeEach(() => {
    used('a1', 0, { flow: 'a', phase: 'one' });
    used('a2', 10 * HOUR, { flow: 'a', phase: 'two' });
    used('b1', 10 * HOUR, { flow: 'b', phase: 'one' });
  });

  test.each<[ClearRequest, string[]]>([
    [{}, []],
    [{ flow: 'a' }, ['a1', 'a2']],
    [{ flow: 'a', phase: 'one' }, ['a1']],
    [{ phase: 'one' }, ['a1', 'b1']],
    [{ olderThanMs: 5 * HOUR }, ['a2', 'b1']],
    [{ flow: 'a', olderThanMs: 5 * HOUR }, ['a2']],
    [{ all: true }, ['a1', 'a2', 'b1']],
  ])('%j removes %j', async (request, removed) => {
    const bytes = removed.reduce((sum, name) => sum + statSync(path(name)).size, 0);
    const expected = { entries: removed.length, bytes, keys: expect.arrayContaining(removed.map(key)) };
    expect(await clear({ ...request, dryRun: true })).toEqual(expected);
    expect(await names()).toHaveLength(3);
    expect(await clear(request)).toEqual(expected);
    for (const name of ['a1', 'a2', 'b1']) expect(has(name), name).toBe(!removed.includes(name));
    expect(await names()).toHaveLength(3 - removed.length);
  });

  test('takes files along and counts them', async () => {
    const blob = withFile('c', 'z'.repeat(5_000), 0);
    expect((await clear({ all: true })).bytes).toBeGreaterThan(5_000);
    expect(existsSync(blob)).toBe(false);
    expect(await storeStatus(place.options())).toMatchObject({ entries: 0, bytes: 0 });
  });
});

describe('looking', () => {
  test('list shows the last used first', async () => {
    used('old', 2 * HOUR);
    used('new', 0);
    expect(await listEntries(place.options())).toMatchObject([
      { key: key('new'), flow: 'f', phaseId: 'p', runId: 'run-1', files: 0 },
      { key: key('old') },
    ]);
  });

  test('show finds an entry by the beginning of its key, and does not count as use', async () => {
    used('a', 5 * HOUR);
    used('b', 5 * HOUR);
    const before = statSync(path('a')).mtimeMs;
    expect(showEntry(place.options(), key('a').slice(0, 12))).toMatchObject({ entry: { key: key('a') } });
    expect(statSync(path('a')).mtimeMs).toBe(before);
    expect(showEntry(place.options(), 'ffffffffffff')).toEqual({ none: true });
    expect(showEntry(place.options(), '../x')).toEqual({ none: true });
    expect(showEntry(place.options(), key('nothing'))).toEqual({ none: true });
    for (let i = 0; i < 20; i++) used(`m${i}`, 0);
    const all = await names();
    const first = [...'0123456789abcdef'].find((digit) => all.filter((name) => name.startsWith(digit)).length > 1)!;
    expect(showEntry(place.options(), first)).toHaveProperty('ambiguous');
  });

  test('status counts entries, files and bytes', async () => {
    expect(await storeStatus(place.options())).toEqual({
      dir: place.dir,
      entries: 0,
      bytes: 0,
      blobs: 0,
      oldest: undefined,
      damaged: 0,
      unindexed: 0,
    });
    withFile('a', 'x'.repeat(3_000), HOUR);
    const { entries, bytes, blobs, oldest } = await storeStatus(place.options());
    expect({ entries, blobs }).toEqual({ entries: 1, blobs: 1 });
    expect(bytes).toBe(3_000 + statSync(path('a')).size);
    expect(Date.now() - oldest!).toBeGreaterThanOrEqual(HOUR);
  });

  test('the nearest entry is the one that differs least', async () => {
    const nearestTo = async (now: StoredIdentity) =>
      nearestEntry(place.options(), now, await candidatesFor(place.options(), [now], {}));
    const identity = (task: string, model: string) => ({ flow: 'f', phase: 'p', body: { task }, agent: { model } });
    used('far', 0, { identity: identity('one', 'm1') });
    used('near', HOUR, { identity: identity('two', 'm2') });
    used('other', 0, { phase: 'q', identity: identity('two', 'm3') });
    const nearest = await nearestTo(identity('two', 'm3'));
    expect(nearest?.entry.key).toBe(key('near'));
    expect(nearest?.changes).toEqual([{ field: 'agent.model', message: 'model changed: m2 → m3' }]);
    expect(await nearestTo({ flow: 'f', phase: 'unknown' })).toBeUndefined();
  });
});

describe('verify', () => {
  async function verify() {
    const steps = await verifyStore({ ...place.options(), recomputeKey: () => undefined });
    if ('busy' in steps) throw new Error(steps.busy);
    return Object.fromEntries(steps.map(({ name, problems }) => [name, problems]));
  }

  test('finds nothing wrong where nothing is', async () => {
    withFile('a', 'x', 0);
    expect(await verify()).toEqual({ folder: [], entries: [], files: [], leftovers: [], index: [] });
  });

  test('names every kind of damage and puts it right', async () => {
    const blob = withFile('a', 'x'.repeat(2_000), 0);
    store.put(makeEntry('b'));
    writeFileSync(blob, 'y');
    truncateSync(path('b'), 100);
    writeFileSync(join(place.dir, 'index.json'), 'garbage');
    const found = await verify();
    expect(found['entries']).toEqual([expect.stringContaining(key('b'))]);
    expect(found['files']).toHaveLength(2);
    expect(found['files']![1]).toContain('out/a cannot be restored');
    expect(has('b')).toBe(false);
    expect(existsSync(blob)).toBe(false);
    expect((await verify())['entries']).toEqual([]);
    expect(Object.keys(JSON.parse(readFileSync(join(place.dir, 'index.json'), 'utf8')))).toEqual([key('a')]);
  });

  test('an identity that belongs to another key is not believed', async () => {
    store.put(makeEntry('a'));
    const steps = await verifyStore({ ...place.options(), recomputeKey });
    expect(steps).toMatchObject([
      { name: 'folder' },
      { name: 'entries', problems: [expect.stringContaining('another key')] },
      {},
      {},
      {},
    ]);
    expect(has('a')).toBe(false);
  });

  test('makes the folder private again', async () => {
    mkdirSync(place.dir, { recursive: true, mode: 0o755 });
    expect((await verify())['folder']).toHaveLength(1);
    expect(statSync(place.dir).mode & 0o777).toBe(0o700);
  });
});

describe('one maintenance at a time', () => {
  const lock = () => join(place.dir, MAINTENANCE);

  test('each waits for the other, and both are done', async () => {
    store.put(makeEntry('a'));
    const [one, two] = await Promise.all([
      collectGarbage(place.options()),
      clearEntries(place.options(), { all: true }),
    ]);
    expect(one).toHaveProperty('removedEntries');
    expect(two).toHaveProperty('entries');
    expect(existsSync(lock())).toBe(false);
  });

  test('one that was killed in the middle of it is in nobody’s way', async () => {
    store.put(makeEntry('a'));
    mkdirSync(lock());
    const then = Date.now() / 1_000 - 4;
    utimesSync(lock(), then, then);
    expect(await clearEntries(place.options(), { all: true })).toMatchObject({ entries: 1 });
    expect(existsSync(lock())).toBe(false);
  }, 30_000);

  test('one that shows signs of life keeps its turn, and is waited for only so long', async () => {
    store.put(makeEntry('a'));
    mkdirSync(lock());
    const pulse = setInterval(() => utimesSync(lock(), Date.now() / 1_000, Date.now() / 1_000), 500);
    try {
      expect(await clearEntries(place.options(), { all: true })).toEqual({
        busy: 'another process is tidying up the cache',
      });
    } finally {
      clearInterval(pulse);
    }
    expect(await listEntries(place.options())).toHaveLength(1);
    expect(existsSync(lock())).toBe(true);
  }, 30_000);
});
