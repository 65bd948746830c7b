import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/util/digest.js';
import { derivedDir } from '../../src/util/user-cache.js';
import { phaseOf } from '../support/rig.js';
import { CACHE, createMemoRig, filesUnder, flow, kept, type MemoRig, writeConfig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const cache = (name = '') => join(rig.root, CACHE, name);
const HOUR = 3_600_000;

/** Rewrites an entry's text and gives it the checksum that fits: as somebody would who knows the format. */
function forge(path: string, change: (text: string) => string): void {
  const text = change(readFileSync(path, 'utf8'));
  const end = text.lastIndexOf(',"checksum":"');
  writeFileSync(path, `${text.slice(0, end)},"checksum":"${sha256Hex(text.slice(0, end))}"}`);
}

describe('entries that are not what they should be', () => {
  beforeEach(async () => {
    expect(await rig.executed(flow([kept('a'), kept('b')]))).toEqual({ a: 1, b: 1 });
    expect(await rig.executed()).toEqual({});
  });

  const entryOf = (phase: string) => rig.entries().find((_, index) => rig.entry(index).phase === phase)!;

  it('an entry copied under another key is not served', async () => {
    copyFileSync(entryOf('a'), entryOf('b'));
    const result = await rig.run();
    expect(phaseOf(result, 'b')).toMatchObject({ output: 'said b', cacheHit: null });
    expect(phaseOf(result, 'b').reason).toContain('damaged');
    expect(await rig.executed()).toEqual({});
  });

  it('an entry of another format version is not served, and says so', async () => {
    forge(entryOf('a'), (text) => text.replace('"format":1', '"format":9'));
    rig.forget();
    const result = await rig.run();
    expect(rig.counts()).toEqual({ a: 1 });
    expect(phaseOf(result, 'a').reason).toContain('another format');
  });

  it.each([
    ['torn', (bytes: Buffer) => bytes.subarray(0, bytes.length - 20)],
    ['cut in the middle', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['empty', () => Buffer.alloc(0)],
    ['full of zeroes', (bytes: Buffer) => Buffer.alloc(bytes.length)],
    [
      'with one bit flipped',
      (bytes: Buffer) => Buffer.from(bytes.map((byte, index) => (index === 400 ? byte ^ 1 : byte))),
    ],
    ['garbage', () => Buffer.from('no json at all')],
  ])('a %s entry is a miss with a reason, is set aside, and is made again', async (_what, damage) => {
    const path = entryOf('a');
    writeFileSync(path, damage(readFileSync(path)));
    rig.forget();
    const result = await rig.run();
    expect(rig.counts()).toEqual({ a: 1 });
    expect(phaseOf(result, 'a').reason).toContain('damaged');
    expect(readdirSync(cache('damaged'))).toHaveLength(1);
    expect(await rig.executed()).toEqual({});
  });

  it('a folder in the place of an entry is a miss with a reason, and costs one execution', async () => {
    rmSync(entryOf('a'));
    const path = cache(`${phaseOf(await rig.run(), 'a').key}.json`);
    rmSync(path);
    mkdirSync(path);
    rig.forget();
    const result = await rig.run();
    expect(rig.counts()).toEqual({ a: 1 });
    expect(phaseOf(result, 'a').reason).toBe('a folder in the place of the entry was set aside');
    await rig.run();
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('an entry made more than five minutes in the future is not served; a little ahead is clock skew', async () => {
    rig.forget();
    const back = await rig.runAs({ laterMs: -4 * 60_000 });
    expect(rig.counts()).toEqual({});
    expect(phaseOf(back, 'a').ageMs).toBe(0);
    const far = await rig.runAs({ laterMs: -6 * 60_000 });
    expect(rig.counts()).toEqual({ a: 1, b: 1 });
    expect(phaseOf(far, 'a').reason).toContain('from the future');
  });

  it('a clock that was set back neither serves what expired nor loses what did not', async () => {
    const flowOf = flow([kept('a', [], { cache: { scope: 'cross-run', fingerprint: [], ttl: '6h' } })]);
    await rig.runAs({ laterMs: 10 * HOUR }, flowOf);
    rig.forget();
    await rig.runAs({ laterMs: 17 * HOUR });
    expect(rig.counts()).toEqual({ a: 1 });
    await rig.runAs({ laterMs: 2 * HOUR });
    expect(rig.counts()).toEqual({ a: 2 });
    await rig.runAs({ laterMs: 3 * HOUR });
    expect(rig.counts()).toEqual({ a: 2 });
  });

  it('garbage and missing files around the entries do no harm: index, marker, tables, secret, leftovers', async () => {
    for (const name of ['index.json', 'collect.json', 'secret', 'index.log']) writeFileSync(cache(name), 'garbage');
    writeFileSync(cache('README.txt'), 'mine');
    mkdirSync(cache('my folder'), { recursive: true });
    writeFileSync(cache('my folder/x.json'), '{}');
    writeFileSync(`${entryOf('a')}.4711-1-abc.tmp`, 'half');
    expect(await rig.executed()).toEqual({});
    rmSync(cache('index.json'));
    expect(await rig.executed(flow([kept('a'), kept('b'), kept('c')]))).toEqual({ c: 1 });
    expect(readFileSync(cache('README.txt'), 'utf8')).toBe('mine');
    expect(readFileSync(cache('my folder/x.json'), 'utf8')).toBe('{}');
  });

  it('a lost cache folder costs the executions and nothing else', async () => {
    rmSync(cache(), { recursive: true });
    expect(await rig.executed()).toEqual({ a: 1, b: 1 });
    expect(await rig.executed()).toEqual({});
  });

  it('a cache folder that is a file: one warning, and the run goes on', async () => {
    rmSync(cache(), { recursive: true });
    writeFileSync(cache(), 'in the way');
    const result = await rig.run();
    expect(result.status).toBe('success');
    expect(result.warnings?.filter((text) => text.includes('cache'))).toHaveLength(1);
  });
});

describe('bounds', () => {
  const items = (from: number, count: number) =>
    flow([
      {
        id: 'm',
        type: 'map',
        over: Array.from({ length: count }, (_, index) => `i${from + index}`),
        run: ['bin/tick', 'm', '{item}'],
        cache: { scope: 'cross-run', fingerprint: [] },
      },
    ]);

  it('a run that fills the store leaves it within its bounds, and what was used last is what stays', async () => {
    writeConfig(rig, 'cache: { maxEntries: 10 }\n');
    await rig.executed(items(0, 6));
    await rig.run(items(0, 3));
    await rig.run(items(100, 6));
    expect(rig.entries().length).toBeLessThanOrEqual(10);
    rig.forget();
    await rig.run(items(0, 3));
    expect(rig.counts()).toEqual({});
  });

  it('entries that nobody used for longer than maxAge go', async () => {
    writeConfig(rig, 'cache: { maxAge: 30d }\n');
    await rig.executed(items(0, 3));
    // The first one after a month only notes the time: a clock may be wrong for one run.
    await rig.runAs({ laterMs: 31 * 24 * HOUR }, flow([kept('new')]));
    expect(rig.entries()).toHaveLength(4);
    await rig.runAs({ laterMs: 33 * 24 * HOUR }, flow([kept('newer')]));
    expect(rig.entries()).toHaveLength(2);
  });
});

describe('claims of those who died', () => {
  async function claimed(text: string, ageMs: number): Promise<string> {
    await rig.executed(flow([kept('a')]));
    const [entry] = rig.entries();
    const claim = entry!.replace(/\.json$/, '.claim');
    rmSync(entry!);
    writeFileSync(claim, text);
    const then = new Date(Date.now() - ageMs);
    utimesSync(claim, then, then);
    return claim;
  }
  const holder = (more: object) => {
    const text = readFileSync(rig.entries()[0]!, 'utf8');
    const own = JSON.parse(text).holder as Record<string, unknown>;
    return `{"holder":${JSON.stringify({ ...own, ...more })}\n`;
  };

  it('an empty claim file, and garbage, are replaced', async () => {
    for (const text of ['', 'garbage', '{"holder":{"pid":']) {
      await claimed(text, 60_000);
      expect(await rig.executed()).toEqual({ a: 1 });
      expect(await rig.executed()).toEqual({});
    }
  });

  it('a claim whose process id was reused by another process is replaced', async () => {
    await rig.executed(flow([kept('a')]));
    // This very process lives, but it did not start then.
    await claimed(holder({ pid: process.pid, startTicks: 1 }), 1_000);
    expect(await rig.executed()).toEqual({ a: 1 });
  });

  it('a claim of a process that is gone, and one of another boot, are replaced', async () => {
    await rig.executed(flow([kept('a')]));
    await claimed(holder({ pid: 4_194_000 }), 0);
    expect(await rig.executed()).toEqual({ a: 1 });
    await claimed(holder({ boot: 'another' }), 0);
    expect(await rig.executed()).toEqual({ a: 1 });
  });
});

describe('private files', () => {
  it('everything under the state folder is for its owner only', async () => {
    rig.write('src/a.txt', '1');
    const phases = [kept('a', ['glob:src/**', 'env:HOME'], { outputs: ['out.txt'], run: 'echo x > out.txt' })];
    await rig.executed(flow(phases));
    const state = (name: string) => join(rig.root, '.pi/taskflows', name);
    const folders = [state('cache'), state('runs'), derivedDir(rig.project)];
    const open = folders.flatMap((folder) => filesUnder(folder)).filter((path) => (statSync(path).mode & 0o077) !== 0);
    expect(open).toEqual([]);
    for (const folder of [...folders, state('cache/blobs')]) expect(statSync(folder).mode & 0o077).toBe(0);
  });
});

describe('signing', () => {
  const sign = (source: string) => writeConfig(rig, `cache: { signingKey: ${source} }\n`);
  const env = { KEY: 'a long and secret key of the project' };
  const run = async (changes = {}) => {
    rig.forget();
    await rig.runAs({ env, ...changes });
    return rig.counts();
  };

  beforeEach(async () => {
    sign('{ env: KEY }');
    rig.write('flow.json', JSON.stringify(flow([kept('a')])));
    expect(await run()).toEqual({ a: 1 });
    expect(await run()).toEqual({});
  });

  it('an entry without a signature is a miss', async () => {
    rmSync(rig.entries()[0]!);
    writeConfig(rig);
    await run();
    sign('{ env: KEY }');
    rig.forget();
    const result = await rig.runAs({ env });
    expect(rig.counts()).toEqual({ a: 1 });
    expect(phaseOf(result, 'a').reason).toMatch(/sign/);
    expect(await run()).toEqual({});
  });

  it('an entry that was changed by somebody who knows the format but not the key is a miss', async () => {
    forge(rig.entries()[0]!, (text) => text.replace('said a', 'paid a'));
    rig.forget();
    const result = await rig.runAs({ env });
    expect(phaseOf(result, 'a').output).toBe('said a');
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('another key is a miss, and the first key still fits its own entries', async () => {
    rig.forget();
    await rig.runAs({ env: { KEY: 'another key altogether, long enough too' } });
    expect(rig.counts()).toEqual({ a: 1 });
    expect(await run({ env: { KEY: 'another key altogether, long enough too' } })).toEqual({});
  });

  it('a key that is named and cannot be had stops the run: it is not the same as none', async () => {
    await expect(rig.runAs({ env: { KEY: undefined } })).rejects.toThrow('KEY');
    sign('{ file: keys/none }');
    await expect(rig.runAs({ env })).rejects.toThrow('keys/none');
  });

  it('a key from a file signs the same way', async () => {
    rig.write('keys/cache', `${env.KEY}\n`, 0o600);
    sign('{ file: keys/cache }');
    expect(await run({ env: {} })).toEqual({});
  });

  it('what else lies in a cache folder from elsewhere cannot change what is executed', async () => {
    // A kept check of the flow, as a stranger would like it to be.
    for (const path of filesUnder(cache())) {
      const text = readFileSync(path, 'utf8');
      if (basename(path) === basename(rig.entries()[0]!) || !text.includes('bin/tick')) continue;
      chmodSync(path, 0o600);
      writeFileSync(path, text.replaceAll('"a"', '"evil"').replaceAll('said a', 'owned'));
    }
    expect(await run()).toEqual({});
  });
});
