import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { identityOf } from '../../src/process/process-identity.js';
import { openStore } from '../../src/store/disk-store.js';
import { newHolder } from '../../src/store/holder.js';
import { claimPath, entryPath } from '../../src/store/paths.js';
import { key, makeEntry, type Scratch, scratch } from '../contracts/store-support.js';
import { bundleWorker, executions, startWorker } from './processes.js';

let bundle: string;
let place: Scratch;
beforeAll(async () => {
  bundle = await bundleWorker();
});
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.remove());

function writeClaim(text: string, ageMs = 0): void {
  mkdirSync(place.dir, { recursive: true });
  writeFileSync(claimPath(place.dir, key('a')), text);
  const at = (Date.now() - ageMs) / 1_000;
  utimesSync(claimPath(place.dir, key('a')), at, at);
}

const claimOf = (holder: object) => `{"holder":${JSON.stringify(holder)}\n`;

/** Whether a claim is to be had within this time. */
async function claimable(ms: number): Promise<boolean> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), ms);
  const turn = await openStore(place.options()).claim(key('a'), { signal: abort.signal });
  clearTimeout(timer);
  if ('claim' in turn) turn.claim.release();
  return 'claim' in turn;
}

describe('one key is computed once', () => {
  test('by eight processes that start at the same moment', async () => {
    const workers = Array.from({ length: 8 }, () => startWorker(bundle, ['compute', place.root, 'a', '300']));
    const said = await Promise.all(workers.map(({ ended }) => ended));
    expect(executions(place.root)).toEqual(['a']);
    expect(said.filter((lines) => lines.includes('hit output of a'))).toHaveLength(7);
  });

  test('by many processes and several keys without one waiting for another', async () => {
    const names = ['a', 'b', 'c'];
    const workers = Array.from({ length: 9 }, (_, i) =>
      startWorker(bundle, ['compute', place.root, names[i % 3]!, '50']),
    );
    await Promise.all(workers.map(({ ended }) => ended));
    expect(executions(place.root).sort()).toEqual(names);
  });

  test('by fifty callers in this process beside one in another', async () => {
    const other = startWorker(bundle, ['compute', place.root, 'a', '200']);
    await other.said('computing');
    const store = openStore(place.options());
    const results = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const turn = await store.claim(key('a'), {});
        return 'ready' in turn && 'entry' in store.get(key('a'), { now: Date.now() });
      }),
    );
    expect(results.every(Boolean)).toBe(true);
    expect(executions(place.root)).toEqual(['a']);
  });

  test('also when the result came between the miss and the claim', async () => {
    const store = openStore(place.options());
    expect(store.get(key('a'), { now: Date.now() })).toHaveProperty('miss');
    openStore(place.options()).put(makeEntry('a'));
    expect(await store.claim(key('a'), {})).toEqual({ ready: true });
    expect(readdirSync(place.dir).filter((name) => name.endsWith('.claim'))).toEqual([]);
  });

  test('an entry that its reader cannot use is announced once, not for ever', async () => {
    const store = openStore(place.options());
    store.put(makeEntry('a'));
    expect(store.get(key('a'), { now: Date.now() })).toHaveProperty('entry');
    expect(await store.claim(key('a'), {})).toEqual({ ready: true });
    expect(await store.claim(key('a'), {})).toHaveProperty('claim');
  });
});

describe('a holder that dies', () => {
  test('by kill -9 is noticed and replaced by exactly one of those who wait', async () => {
    const holder = startWorker(bundle, ['hold', place.root, 'a']);
    await holder.said('holding');
    const waiters = Array.from({ length: 6 }, () => startWorker(bundle, ['compute', place.root, 'a', '100']));
    await Promise.all(waiters.map((waiter) => waiter.said('waiting')));
    expect(executions(place.root)).toEqual([]);
    holder.child.kill('SIGKILL');
    await Promise.all(waiters.map(({ ended }) => ended));
    expect(executions(place.root)).toEqual(['a']);
    expect(readdirSync(place.dir).filter((name) => /claim|guard|tmp/.test(name))).toEqual([]);
  });

  test('and left a zombie', async () => {
    // A shell that does not wait for its child: the child's row stays in the process table when it has ended.
    const shell = spawn('bash', ['-c', 'sleep 0.05 & echo $!; exec sleep 30'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const pid = Number(await new Promise<Buffer>((resolve) => shell.stdout.once('data', resolve)));
    const { startTicks } = identityOf(pid);
    expect(startTicks).toBeTypeOf('number');
    writeClaim(claimOf({ ...newHolder(), pid, startTicks }));
    await pause(150);
    expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z ');
    expect(await claimable(500)).toBe(true);
    shell.kill();
  });

  test('and its process id belongs to another process now', async () => {
    writeClaim(claimOf({ ...newHolder(), startTicks: 1 }));
    expect(await claimable(500)).toBe(true);
  });

  test('when the machine was started again', async () => {
    writeClaim(claimOf({ ...newHolder(), boot: 'an earlier boot' }));
    expect(await claimable(500)).toBe(true);
  });

  test('before it could write its name: an empty claim is given a moment, no more', async () => {
    writeClaim('', 0);
    expect(await claimable(100)).toBe(false);
    writeClaim('', 10_000);
    expect(await claimable(500)).toBe(true);
    writeClaim('{"holder":{"ho', 10_000);
    expect(await claimable(500)).toBe(true);
  });

  test('while it was replacing another dead one', async () => {
    const holder = { ...newHolder(), startTicks: 1 };
    writeClaim(claimOf(holder));
    const guard = `${claimPath(place.dir, key('a'))}-${holder.id}.guard`;
    writeFileSync(guard, '');
    utimesSync(guard, Date.now() / 1_000 - 60, Date.now() / 1_000 - 60);
    expect(await claimable(1_000)).toBe(true);
    expect(existsSync(guard)).toBe(false);
  });
});

describe('a holder that lives', () => {
  test('keeps its claim however slow it is', async () => {
    writeClaim(claimOf(newHolder()), 30 * 24 * 3_600_000);
    expect(await claimable(300)).toBe(false);
  });

  test('on another machine or in another container keeps it while it shows signs of life', async () => {
    writeClaim(claimOf({ ...newHolder(), host: 'elsewhere', pid: 1 }));
    expect(await claimable(300)).toBe(false);
    writeClaim(claimOf({ ...newHolder(), namespace: 'pid:[1]', pid: 4_000_000 }));
    expect(await claimable(300)).toBe(false);
    writeClaim(claimOf({ ...newHolder(), host: 'elsewhere', pid: 1 }), 11 * 60_000);
    expect(await claimable(500)).toBe(true);
  });

  test('is not robbed by someone who saw its dead predecessor', async () => {
    const dead = claimOf({ ...newHolder(), startTicks: 1 });
    for (let i = 0; i < 30; i++) {
      writeClaim(dead);
      const stores = Array.from({ length: 8 }, () => openStore(place.options()));
      const abort = new AbortController();
      const turns = stores.map((store) => store.claim(key('a'), { signal: abort.signal }));
      const first = await Promise.race(turns);
      if (!('claim' in first)) throw new Error('nobody got the claim');
      await pause(5);
      abort.abort();
      const all = await Promise.all(turns);
      expect(all.filter((turn) => 'claim' in turn)).toHaveLength(1);
      first.claim.release();
    }
  });

  test('stores under its key even if somebody cleared the cache meanwhile', async () => {
    const store = openStore(place.options());
    const turn = await store.claim(key('a'), {});
    const { clearEntries } = await import('../../src/store/clear-entries.js');
    await clearEntries(place.options(), { all: true });
    if (!('claim' in turn)) throw new Error('no claim');
    expect(turn.claim.put(makeEntry('a'))).toEqual({ stored: true });
    expect(existsSync(entryPath(place.dir, key('a')))).toBe(true);
  });

  test('that another machine believed dead does not spoil what the other one does', async () => {
    const store = openStore(place.options());
    const turn = await store.claim(key('a'), {});
    const other = claimOf({ ...newHolder(), host: 'elsewhere' });
    writeFileSync(`${claimPath(place.dir, key('a'))}.new`, other);
    const { renameSync } = await import('node:fs');
    renameSync(`${claimPath(place.dir, key('a'))}.new`, claimPath(place.dir, key('a')));
    if (!('claim' in turn)) throw new Error('no claim');
    expect(turn.claim.put(makeEntry('a'))).toMatchObject({ stored: false });
    expect(readFileSync(claimPath(place.dir, key('a')), 'utf8')).toBe(other);
  });

  test('leaves neither a file nor a descriptor behind, however it ends', async () => {
    const store = openStore(place.options());
    const claimed = async (name: string) => {
      const turn = await store.claim(key(name), {});
      if (!('claim' in turn)) throw new Error('no claim');
      return turn.claim;
    };
    const open = () => readdirSync('/dev/fd').length;
    await (await claimed('first')).release();
    const before = open();
    expect((await claimed('put')).put(makeEntry('put'))).toEqual({ stored: true });
    (await claimed('released')).release();
    const removed = await claimed('removed');
    rmSync(claimPath(place.dir, key('removed')));
    expect(removed.put(makeEntry('removed'))).toMatchObject({ stored: false });
    const refused = await claimed('refused');
    mkdirSync(entryPath(place.dir, key('refused')));
    expect(refused.put(makeEntry('refused'))).toMatchObject({ stored: false });
    expect(open()).toBe(before);
    expect(readdirSync(place.dir).filter((name) => name.includes('claim'))).toEqual([]);
  });
});

test('waiting costs a look now and then, and ends when it is aborted', async () => {
  writeClaim(claimOf(newHolder()));
  let looks = 0;
  const clock = {
    now: () => {
      looks += 1;
      return Date.now();
    },
    elapsed: () => performance.now(),
  };
  const { project } = place.options();
  const turn = await openStore(place.options({ project: { ...project, clock } })).claim(key('a'), {
    signal: AbortSignal.timeout(1_000),
  });
  expect(turn).toEqual({ unavailable: 'interrupted' });
  expect(looks).toBeGreaterThan(3);
  expect(looks).toBeLessThan(30);
});
