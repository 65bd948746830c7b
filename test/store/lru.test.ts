import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { collectGarbage } from '../../src/store/collect-garbage.js';
import { openStore } from '../../src/store/disk-store.js';
import { exportArchive } from '../../src/store/export-archive.js';
import { importArchive } from '../../src/store/import-archive.js';
import { maybeCollect } from '../../src/store/maybe-collect.js';
import type { StoreLimits } from '../../src/store/options.js';
import { entryPath } from '../../src/store/paths.js';
import type { Entry } from '../../src/store/store.js';
import { storeStatus } from '../../src/store/store-status.js';
import { systemClock } from '../../src/util/clock.js';
import { key, LIMITS, makeEntry, type Scratch, scratch } from '../contracts/store-support.js';
import { listEntries } from '../support/list-entries.js';
import { randomFrom } from '../support/random.js';
import { readIndex } from '../support/read-index.js';
import { createRig, type Rig, ticking } from '../support/rig.js';

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.remove());

const has = (name: string) => existsSync(entryPath(place.dir, key(name)));

/** What a process does in one run: uses and puts, then its end. */
async function run(steps: readonly string[], limits: Partial<StoreLimits> = {}): Promise<void> {
  const store = openStore(place.options({ limits: { ...LIMITS, ...limits } }));
  for (const step of steps) {
    const [what, name = ''] = step.split(' ');
    if (what === 'put') expect(store.put(makeEntry(name))).toEqual({ stored: true });
    else expect(store.get(key(name), { now: Date.now() }), step).toHaveProperty('entry');
  }
  await maybeCollect(store);
}

describe('a full store evicts what was used least recently, at any time scale', () => {
  let rig: Rig;
  beforeEach(() => {
    rig = createRig();
    rig.write('.pi/taskflows/config.yaml', 'cache: { maxEntries: 3 }\n');
  });
  afterEach(() => rig.remove());

  test('make 1, 2, 3; use 1; make 4: 2 goes, through real runs', async () => {
    const flow = (name: string) => ({ name, phases: [ticking(name, { cache: { scope: 'cross-run' } })] });
    for (const name of ['one', 'two', 'three', 'one', 'four']) await rig.run(flow(name), { file: `${name}.json` });
    expect(rig.counts()).toEqual({ one: 1, two: 1, three: 1, four: 1 });
    for (const name of ['one', 'three', 'four']) await rig.run(flow(name), { file: `${name}.json` });
    expect(rig.counts(), 'the other three are still there').toEqual({ one: 1, two: 1, three: 1, four: 1 });
    await rig.run(flow('two'), { file: 'two.json' });
    expect(rig.counts()).toMatchObject({ two: 2 });
    // What only says where to look takes nobody's place: neither here nor for who takes over all three.
    const options = { dir: join(rig.root, '.pi/taskflows/cache'), project: rig.project, limits: LIMITS };
    expect(await storeStatus(options)).toMatchObject({ entries: 3 });
    const archive = join(rig.root, '../full.tfc');
    expect(await exportArchive(options, archive)).toMatchObject({ skipped: 0 });
    const taken = (maxEntries: number) => importArchive(place.options({ limits: { ...LIMITS, maxEntries } }), archive);
    expect(await taken(2)).toMatchObject({ refused: expect.stringContaining('more entries than the cache may') });
    expect(await taken(3)).toMatchObject({ known: 0 });
    expect(await listEntries(place.options())).toHaveLength(3);
  });

  test('within one run', async () => {
    await run(['put 1', 'put 2', 'put 3', 'get 1', 'put 4'], { maxEntries: 3 });
    expect(['1', '2', '3', '4'].map(has)).toEqual([true, false, true, true]);
  });

  test('a set-up phase that every run hits is never the one to go', async () => {
    await run(['put setup'], { maxEntries: 3 });
    for (let i = 0; i < 10; i++) await run(['get setup', `put ${i}`], { maxEntries: 3 });
    expect(has('setup')).toBe(true);
    expect(await listEntries(place.options())).toHaveLength(3);
  });
});

test('a random history of runs evicts exactly as a list ordered by last use would', async () => {
  const random = randomFrom(7);
  for (let round = 0; round < 12; round++) {
    place.remove();
    place = scratch();
    /** The least recently used first. */
    let model: string[] = [];
    const use = (name: string) => {
      model = [...model.filter((other) => other !== name), name];
    };
    for (let runs = 0; runs < 12; runs++) {
      const steps: string[] = [];
      for (let i = 0; i < 1 + random.below(6); i++) {
        const name = `e${random.below(14)}`;
        steps.push(`${model.includes(name) && random.below(3) > 0 ? 'get' : 'put'} ${name}`);
        use(name);
      }
      const keep = 1 + random.below(9);
      const store = openStore(place.options());
      for (const step of steps) {
        const [what, name = ''] = step.split(' ');
        if (what === 'put') store.put(makeEntry(name));
        else expect(store.get(key(name), { now: Date.now() })).toHaveProperty('entry');
      }
      await maybeCollect(store);
      if (random.below(3) === 0) {
        await collectGarbage(place.options(), { limits: { ...LIMITS, maxEntries: keep } });
        model = model.slice(Math.max(0, model.length - keep));
      }
      const listed = (await listEntries(place.options())).map((row) => row.key);
      expect(listed, `round ${round}, run ${runs}`).toEqual(model.map(key).reverse());
    }
  }
}, 60_000);

describe('the index', () => {
  test('is complete when a run has ended: by name what was put, and in the order of use', async () => {
    await run(['put a', 'put b', 'get a']);
    const index = JSON.parse(readFileSync(join(place.dir, 'index.json'), 'utf8'));
    expect(Object.keys(index)).toEqual([key('b'), key('a')]);
    const { size } = statSync(entryPath(place.dir, key('a')));
    expect(index[key('a')]).toMatchObject({ flow: 'f', phaseId: 'p', runId: 'run-1', bytes: size });
    expect(existsSync(join(place.dir, 'index.log'))).toBe(false);
  });

  test('a run costs the same however many entries there are: it reads and rewrites no index', async () => {
    await run(['put a']);
    const row = await rowOfA();
    const rows = Array.from({ length: 20_000 }, (_, i) => [key(`x${i}`), { ...row, bytes: 10 }]);
    const text = JSON.stringify(Object.fromEntries(rows));
    writeFileSync(join(place.dir, 'index.json'), text);
    for (let i = 0; i < 5; i++) await run(['get a', `put n${i}`]);
    expect(readFileSync(join(place.dir, 'index.json'), 'utf8') === text).toBe(true);
    expect(readFileSync(join(place.dir, 'index.log'), 'utf8').split('\n').filter(Boolean)).toHaveLength(10);
    expect((await listEntries(place.options())).map((row) => row.key)).toEqual(
      ['n4', 'a', 'n3', 'n2', 'n1', 'n0'].map(key),
    );
  });

  test('a run that was killed leaves entries without a row: they are found, and in their place', async () => {
    await run(['put a', 'put b']);
    openStore(place.options()).put(makeEntry('killed'));
    await run(['get killed']);
    await run(['get a']);
    expect((await listEntries(place.options())).map((row) => row.key)).toEqual(['a', 'killed', 'b'].map(key));
  });

  test('lost, garbled or cut short, it is made again from the entries', async () => {
    await run(['put a', 'put b', 'put c']);
    for (const [name, text] of [
      ['index.json', undefined],
      ['index.json', '{"a":'],
      ['index.log', `\n{"key":"${key('a')}","use\n{"key":7,"usedAt":1}\n${forgedLine('x', '{}')}\nnull\n[]`],
      ['index.log', `\n${forgedLine(key('a'), '{"inode":1,"bytes":2,"blobs":7}')}\n`],
    ] as const) {
      if (text === undefined) rmSync(join(place.dir, name));
      else writeFileSync(join(place.dir, name), text);
      expect((await listEntries(place.options())).map((row) => row.key).sort()).toEqual(
        ['a', 'b', 'c'].map(key).sort(),
      );
      await collectGarbage(place.options());
      expect(Object.keys(JSON.parse(readFileSync(join(place.dir, 'index.json'), 'utf8')))).toHaveLength(3);
    }
  });

  test('a listing touches no entry that has a row', async () => {
    await run(['put a', 'put b', 'put c']);
    for (const name of ['a', 'b', 'c']) writeFileSync(entryPath(place.dir, key(name)), 'not readable as an entry');
    expect(await storeStatus(place.options())).toMatchObject({ entries: 3, damaged: 0 });
    expect((await readIndex(place.options())).read).toBe(0);
  });

  test('in a signed store nobody else can write rows or uses', async () => {
    const signed = place.options({ signingKey: 'k'.repeat(32) });
    const store = openStore(signed);
    for (const name of ['a', 'b']) store.put(makeEntry(name));
    await maybeCollect(store);
    const lie = { ...(await rowOfA()), flow: 'forged' };
    const whole = readFileSync(join(place.dir, 'index.json'), 'utf8');
    writeFileSync(join(place.dir, 'index.json'), whole.replaceAll('"flow":"f"', '"flow":"forged"'));
    writeFileSync(join(place.dir, 'index.log'), `\n${forgedLine(key('a'), JSON.stringify(lie))}\n`);
    expect((await listEntries(signed)).map(({ flow }) => flow)).toEqual(['f', 'f']);
    expect(
      (await listEntries(place.options())).map(({ flow }) => flow),
      'without a key it is believed',
    ).toContain('forged');
    await collectGarbage(signed);
    expect(readFileSync(join(place.dir, 'index.json'), 'utf8')).not.toContain('forged');
    expect((await readIndex(signed)).read).toBe(0);
  });

  /** As a run without the signing key would write it. */
  function forgedLine(of: string, row: string): string {
    const { inode, bytes, usedAt: _usedAt, ...rest } = JSON.parse(row) as Record<string, unknown>;
    return JSON.stringify({ key: of, usedAt: 9, inode, bytes, ...rest });
  }

  async function rowOfA(): Promise<object> {
    return (await readIndex(place.options())).rows.get(key('a'))!;
  }
});

describe('what is too old', () => {
  const DAY = 86_400_000;
  const at = (now: number) => ({ ...place.options().project, clock: { ...systemClock, now: () => now } });
  const put = (name: string, more: Partial<Entry>) => {
    const store = openStore(place.options());
    store.put(makeEntry(name, more));
    store.log.flush();
  };

  test('entries past the ttl they were put with go first, and gc drops them', async () => {
    const hour = 3_600_000;
    put('fresh', { ttlMs: 2 * hour, createdAt: Date.now() - hour });
    put('unbound', { createdAt: Date.now() - 3 * hour });
    put('expired', { ttlMs: 2 * hour, createdAt: Date.now() - 3 * hour });
    await collectGarbage(place.options(), { limits: { ...LIMITS, maxEntries: 2 } });
    expect(['fresh', 'unbound', 'expired'].map(has)).toEqual([true, true, false]);
  });

  test('one run with a clock in 2099 removes nothing, and the next with the right one goes on', async () => {
    await run(['put a', 'put b']);
    put('bound', { ttlMs: DAY });
    const wrong = Date.UTC(2099, 0, 1);
    const store = openStore(place.options({ project: at(wrong) }));
    store.put(makeEntry('future', { createdAt: wrong }));
    const blob = keepSomething(store);
    expect(await maybeCollect(store)).toMatchObject({ removedEntries: 0, entries: 4 });
    expect(existsSync(blob), 'a file that an entry is about to name').toBe(true);
    await run(['get a', 'put c']);
    expect(['a', 'b', 'bound', 'c'].map(has)).toEqual([true, true, true, true]);
    expect(openStore(place.options()).get(key('future'), { now: Date.now() })).toMatchObject({
      miss: { code: 'future' },
    });
  });

  test('a leap of the clock is believed when it has lasted for a day', async () => {
    await run(['put a']);
    const later = Date.now() + 200 * DAY;
    await collectGarbage({ ...place.options(), project: at(later) });
    expect(has('a')).toBe(true);
    await collectGarbage({ ...place.options(), project: at(later + DAY) });
    expect(has('a')).toBe(false);
  });

  function keepSomething(store: ReturnType<typeof openStore>): string {
    writeFileSync(join(place.root, 'file'), 'content');
    const kept = store.blobs.keep(join(place.root, 'file'));
    if ('failed' in kept) throw new Error(kept.failed);
    return join(place.dir, 'blobs', kept.digest.slice(0, 2), kept.digest);
  }
});

test('nothing is left beside the entries', async () => {
  await run(['put a', 'put b'], { maxEntries: 1 });
  const rest = readdirSync(place.dir).filter((name) => !/^[0-9a-f]{64}\.json$/.test(name));
  expect(rest.sort()).toEqual(['.gitignore', 'CACHEDIR.TAG', 'collect.json', 'index.json']);
});
