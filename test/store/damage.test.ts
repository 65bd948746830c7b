import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/disk-store.js';
import { entryPath } from '../../src/store/paths.js';
import { verifyStore } from '../../src/store/verify-store.js';
import { sha256Hex } from '../../src/util/digest.js';
import { key, makeEntry, type Scratch, scratch } from '../contracts/store-support.js';
import { readIndex } from '../support/read-index.js';
import { bundleWorker, startWorker } from './processes.js';

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.remove());

const get = (name: string, signingKey?: string) =>
  openStore(place.options({ signingKey })).get(key(name), { now: Date.now() });
const path = (name: string) => entryPath(place.dir, key(name));

function stored(name: string, signingKey?: string): void {
  expect(openStore(place.options({ signingKey })).put(makeEntry(name))).toEqual({ stored: true });
}

test('a pipe in the place of an entry is no entry, and nobody waits for it', () => {
  stored('a');
  rmSync(path('a'));
  expect(spawnSync('mkfifo', [path('a')]).status).toBe(0);
  expect(get('a')).toMatchObject({ miss: expect.anything() });
  stored('a');
  expect(get('a')).toHaveProperty('entry');
});

test('a folder in the place of an entry is set aside with its content, and the result is paid for once', async () => {
  const block = () => {
    rmSync(path('a'), { recursive: true, force: true });
    mkdirSync(path('a'));
    writeFileSync(join(path('a'), 'mine'), 'x');
  };
  stored('a');
  block();
  expect(get('a')).toMatchObject({ miss: { reason: 'a folder in the place of the entry was set aside' } });
  stored('a');
  expect(get('a')).toHaveProperty('entry');
  block();
  stored('a');
  expect(get('a')).toHaveProperty('entry');
  block();
  const steps = await verifyStore(place.options());
  expect(JSON.stringify(steps)).toContain('a folder in the place of the entry was set aside');
  const aside = readdirSync(join(place.dir, 'damaged'));
  expect(aside.map((name) => readFileSync(join(place.dir, 'damaged', name, 'mine'), 'utf8'))).toEqual(['x', 'x', 'x']);
});

/** Changes the text of an entry and makes its checksum right again: what someone who knows the format would do. */
function tamper(name: string, change: (text: string) => string): void {
  const text = change(readFileSync(path(name), 'utf8').replace(/,"checksum":"[0-9a-f]{64}"}$/, ''));
  writeFileSync(path(name), `${text},"checksum":"${sha256Hex(text)}"}`);
}

describe('an entry on disk', () => {
  test('is one flat JSON object that ends with the checksum of what is before it', () => {
    stored('a');
    const text = readFileSync(path('a'), 'utf8');
    const entry = JSON.parse(text);
    expect(Object.keys(entry).at(-1)).toBe('checksum');
    expect(entry).toMatchObject({ format: 1, key: key('a'), output: { text: 'output of a' }, flow: 'f', phase: 'p' });
    expect(entry.checksum).toBe(sha256Hex(text.slice(0, text.lastIndexOf(',"checksum"'))));
  });

  test('is private, in a private folder that git and backups leave out', () => {
    stored('a');
    expect(statSync(path('a')).mode & 0o777).toBe(0o600);
    expect(statSync(place.dir).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(place.dir, '.gitignore'), 'utf8')).toBe('*\n');
    expect(readFileSync(join(place.dir, 'CACHEDIR.TAG'), 'utf8')).toMatch(
      /^Signature: 8a477f597d28d172789f06886806bc55/,
    );
    openStore(place.options()).seal('x');
    expect(statSync(join(place.dir, 'secret')).mode & 0o777).toBe(0o600);
  });

  test('looking into a store that is not there makes nothing', () => {
    expect(get('a')).toHaveProperty('miss');
    expect(existsSync(join(place.root, '.pi'))).toBe(false);
  });

  test('cut short at any length is a miss and set aside', () => {
    stored('a');
    const { size } = statSync(path('a'));
    for (const length of [0, 1, 63, 90, Math.floor(size / 2), size - 80, size - 1]) {
      stored('a');
      truncateSync(path('a'), length);
      expect(get('a'), `${length} bytes`).toMatchObject({ miss: { code: 'damaged' } });
      expect(get('a')).toMatchObject({ miss: { code: 'absent' } });
    }
    expect(readdirSync(join(place.dir, 'damaged')).length).toBeGreaterThan(0);
  });

  test('with any byte changed is a miss', () => {
    stored('a');
    const whole = readFileSync(path('a'));
    for (let at = 0; at < whole.length; at++) {
      const bytes = Buffer.from(whole);
      bytes[at] = bytes[at]! ^ 1;
      writeFileSync(path('a'), bytes);
      expect(get('a'), `byte ${at}`).toHaveProperty('miss');
    }
  });

  test('followed by something is a miss', () => {
    stored('a');
    writeFileSync(path('a'), `${readFileSync(path('a'), 'utf8')}\n`);
    expect(get('a')).toMatchObject({ miss: { code: 'damaged' } });
  });

  test('copied under another key is a miss', () => {
    stored('a');
    copyFileSync(path('a'), path('b'));
    expect(get('b')).toMatchObject({ miss: { code: 'damaged', reason: expect.stringContaining('another key') } });
    expect(get('a')).toHaveProperty('entry');
  });

  test('of another format is a miss and stays for whoever can read it', () => {
    stored('a');
    tamper('a', (text) => text.replace('"format":1', '"format":3'));
    expect(get('a')).toMatchObject({ miss: { code: 'version' } });
    expect(existsSync(path('a'))).toBe(true);
  });

  test('of a result that says it is of the format of path sets is a miss', () => {
    stored('a');
    tamper('a', (text) => text.replace('"format":1', '"format":2'));
    expect(get('a')).toMatchObject({ miss: { code: 'damaged' } });
  });

  test('that is JSON but no entry is a miss', () => {
    for (const odd of ['"output":3', '"output":{"text":1,"json":null}', '"output":{"text":"x"}']) {
      stored('a');
      tamper('a', (text) => text.replace(/"output":\{.*?\}/, odd));
      expect(get('a'), odd).toMatchObject({ miss: { code: 'damaged' } });
    }
    stored('a');
    tamper('a', (text) => text.replace('"files":[]', '"files":[{"path":"x","mode":1,"digest":"../../x"}]'));
    expect(get('a')).toMatchObject({ miss: { code: 'damaged' } });
  });

  test('without a line of its own for the identity is read all the same', () => {
    stored('a');
    tamper('a', (text) => text.replace('\n,"identity"', ',"identity"'));
    expect(get('a')).toMatchObject({ entry: { output: makeEntry('a').output } });
  });

  test.each(['null', '1', '[]'])('with the identity %s is a miss', (identity) => {
    stored('a');
    tamper('a', (text) => text.replace(/,"identity":.*$/, `,"identity":${identity}`));
    expect(get('a')).toMatchObject({ miss: { code: 'damaged' } });
  });

  test('that is a folder is a miss, and does not stop a put of others', () => {
    mkdirSync(path('a'), { recursive: true });
    expect(get('a')).toMatchObject({ miss: { code: 'damaged' } });
    stored('b');
  });

  test('damaged ones are kept for a look, in bounded number', () => {
    for (let i = 0; i < 40; i++) {
      stored(`d${i}`);
      truncateSync(path(`d${i}`), 10);
      get(`d${i}`);
    }
    expect(readdirSync(join(place.dir, 'damaged'))).toHaveLength(20);
  });
});

describe('a signing key', () => {
  test('makes entries without a valid signature a miss', () => {
    stored('signed', 'k1');
    stored('unsigned');
    expect(get('signed', 'k1')).toHaveProperty('entry');
    expect(get('signed', 'k2')).toMatchObject({ miss: { code: 'unsigned', reason: 'signature does not match' } });
    expect(get('unsigned', 'k1')).toMatchObject({ miss: { code: 'unsigned', reason: 'entry is not signed' } });
    expect(get('signed')).toHaveProperty('entry');
  });

  test('notices what a right checksum does not', () => {
    stored('a', 'k1');
    tamper('a', (text) => text.replace('output of a', 'output of b'));
    expect(get('a')).toHaveProperty('entry');
    expect(get('a', 'k1')).toMatchObject({ miss: { code: 'unsigned' } });
    stored('a', 'k1');
    const signature = /,"mac":"[0-9a-f]{64}"/.exec(readFileSync(path('a'), 'utf8'))![0];
    tamper('a', (text) => `${text.replace(signature, '').replace('output of a', 'output of c')}${signature}`);
    expect(get('a', 'k1')).toMatchObject({ miss: { code: 'unsigned' } });
  });

  test('an unsigned entry is replaced by the next execution', async () => {
    stored('a');
    const store = openStore(place.options({ signingKey: 'k1' }));
    expect(store.get(key('a'), { now: Date.now() })).toHaveProperty('miss');
    const turn = await store.claim(key('a'), {});
    if (!('claim' in turn)) throw new Error('no claim');
    turn.claim.put(makeEntry('a'));
    expect(store.get(key('a'), { now: Date.now() })).toHaveProperty('entry');
  });
});

describe('around the entries', () => {
  test('a garbled, empty, missing or lying index changes nothing but time', async () => {
    stored('a');
    stored('b');
    const index = join(place.dir, 'index.json');
    const rows = [...(await readIndex(place.options())).rows.keys()].sort();
    expect(rows).toEqual([key('a'), key('b')].sort());
    for (const text of ['', '{', '[]', 'null', '{"x":1}', JSON.stringify({ [key('z')]: { createdAt: 1 } })]) {
      writeFileSync(index, text);
      expect([...(await readIndex(place.options())).rows.keys()].sort(), text).toEqual(rows);
      expect(get('a')).toHaveProperty('entry');
    }
  });

  test('files that are not ours are left alone by everything', async () => {
    stored('a');
    const foreign = ['notes.txt', 'x.json', `${key('q')}.json.bak`, 'README', 'blobs/aa/x', 'something.tmp'];
    mkdirSync(join(place.dir, 'blobs/aa'), { recursive: true });
    for (const name of foreign) {
      writeFileSync(join(place.dir, name), 'mine');
      utimesSync(join(place.dir, name), 1, 1);
    }
    const { collectGarbage } = await import('../../src/store/collect-garbage.js');
    const { clearEntries } = await import('../../src/store/clear-entries.js');
    const { verifyStore } = await import('../../src/store/verify-store.js');
    await verifyStore(place.options());
    await collectGarbage(place.options(), { limits: { maxBytes: 0, maxEntries: 0, maxAgeMs: 0 } });
    await clearEntries(place.options(), { all: true });
    for (const name of foreign) expect(existsSync(join(place.dir, name)), name).toBe(true);
    expect(existsSync(path('a'))).toBe(false);
  });

  test('the folder may be removed while a store is open', async () => {
    const store = openStore(place.options());
    store.put(makeEntry('a'));
    renameSync(place.dir, `${place.dir}-gone`);
    expect(store.get(key('a'), { now: Date.now() })).toHaveProperty('miss');
    store.put(makeEntry('b'));
    expect(store.put(makeEntry('b'))).toEqual({ stored: true });
  });
});

describe('when the disk does not play along', () => {
  let bundle: string;
  beforeAll(async () => {
    bundle = await bundleWorker();
  });

  test('a folder that cannot be made: one warning, nothing stored, nothing thrown', async () => {
    writeFileSync(join(place.root, '.pi'), 'a file');
    const store = openStore(place.options());
    expect(store.put(makeEntry('a'))).toMatchObject({ stored: false });
    expect(store.put(makeEntry('b'))).toMatchObject({ stored: false });
    expect(await store.claim(key('a'), {})).toHaveProperty('unavailable');
    expect(store.seal('x')).toBe(store.seal('x'));
    expect(store.blobs.keep('/etc/hostname')).toHaveProperty('failed');
    expect(place.warnings).toHaveLength(1);
  });

  test('a disk that is full half-way through a put: no half entry, no leftover, one warning', async () => {
    const worker = startWorker(bundle, ['full', place.root], 'ulimit -f 8');
    const lines = await worker.ended;
    expect(lines.filter((line) => line.startsWith('warning'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('"stored":false'))).toHaveLength(2);
    expect(lines.at(-1)).toBe('{"stored":true}');
    expect(readdirSync(place.dir).filter((name) => !/^(\.gitignore|CACHEDIR\.TAG)$/.test(name))).toEqual([
      `${key('small')}.json`,
    ]);
  });

  test('too many open files: a miss, and the good entry stays', async () => {
    stored('a');
    const worker = startWorker(bundle, ['starved', place.root, 'a'], 'ulimit -n 60');
    const lines = await worker.ended;
    expect(lines).toContain('full EMFILE');
    expect(lines).toContain('miss unreadable');
    expect(lines.filter((line) => line.startsWith('warning'))).toHaveLength(1);
    expect(get('a')).toHaveProperty('entry');
    expect(existsSync(join(place.dir, 'damaged'))).toBe(false);
  });

  test('eight processes that put and evict at once serve nothing wrong', async () => {
    const workers = Array.from({ length: 8 }, (_, i) => startWorker(bundle, ['mixed', place.root, String(i)]));
    const said = await Promise.all(workers.map(({ ended }) => ended));
    for (const lines of said) expect(lines).toEqual(['done']);
    expect(readdirSync(place.dir).filter((name) => /tmp|claim|guard|lock/.test(name))).toEqual([]);
    expect((await readIndex(place.options())).unreadable).toEqual([]);
  });
});

test('a store that was only looked into holds no file open', () => {
  const before = readdirSync('/dev/fd').length;
  for (let i = 0; i < 100; i++) openStore(place.options()).get(key('a'), { now: Date.now() });
  expect(readdirSync('/dev/fd').length).toBeLessThanOrEqual(before + 2);
});
