import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keyOf, recomputeKey } from '../../src/memo/identity.js';
import { storedIdentity } from '../../src/memo/stored-identity.js';
import { openStore } from '../../src/store/disk-store.js';
import { exportArchive } from '../../src/store/export-archive.js';
import { importArchive } from '../../src/store/import-archive.js';
import { blobPath, entryPath } from '../../src/store/paths.js';
import type { Entry } from '../../src/store/store.js';
import { sha256Hex } from '../../src/util/digest.js';
import { makeEntry, type Scratch, scratch } from '../contracts/store-support.js';
import { makeIdentity } from '../support/identity.js';
import { listEntries } from '../support/list-entries.js';

let here: Scratch;
let there: Scratch;
let archive: string;
beforeEach(() => {
  here = scratch();
  there = scratch();
  archive = join(here.root, 'cache.archive');
});
afterEach(() => {
  here.remove();
  there.remove();
});

/** A real identity, so that its key can be checked. */
function entryFor(task: string, more: Partial<Entry> = {}): Entry {
  const identity = makeIdentity({ kind: 'agent', body: { task } });
  const stored = storedIdentity(identity, { seal: () => 'sealed', secrets: [] });
  return makeEntry(task, { key: keyOf(identity), identity: stored, ...more });
}

function fill(signingKey?: string): Entry[] {
  const store = openStore(here.options({ signingKey }));
  writeFileSync(join(here.root, 'file'), 'content of a file'.repeat(10_000));
  const kept = store.blobs.keep(join(here.root, 'file'));
  if ('failed' in kept) throw new Error(kept.failed);
  const entries = [
    entryFor('one'),
    entryFor('two', { files: [{ path: 'dist/two', ...kept }] }),
    entryFor('three', { files: [{ path: 'dist/three', ...kept }] }),
  ];
  for (const entry of entries) store.put(entry);
  return entries;
}

const importThere = (signingKey?: string, more = {}) =>
  importArchive({ ...there.options({ signingKey, ...more }), recomputeKey }, archive);

/** Nothing of a refused archive may stay. */
function expectNothingTaken(): void {
  const left = existsSync(there.dir) ? readdirSync(there.dir) : [];
  expect(left.filter((name) => !['.gitignore', 'CACHEDIR.TAG'].includes(name))).toEqual([]);
}

type Record = { head: string; bytes: Buffer };

/** Takes an archive apart, lets the test change it, and makes the end line right again. */
function rebuild(change: (records: Record[]) => Record[]): void {
  const text = gunzipSync(readFileSync(archive));
  const records: Record[] = [];
  let at = text.indexOf(10) + 1;
  const magic = text.subarray(0, at);
  for (;;) {
    const end = text.indexOf(10, at);
    const head = text.toString('latin1', at, end);
    if (head.startsWith('end ')) break;
    const size = Number(head.split(' ')[2]);
    records.push({ head: head.split(' ').slice(0, 2).join(' '), bytes: text.subarray(end + 1, end + 1 + size) });
    at = end + 1 + size + 1;
  }
  const changed = change(records);
  const body = Buffer.concat([
    magic,
    ...changed.flatMap(({ head, bytes }) => [Buffer.from(`${head} ${bytes.length}\n`), bytes, Buffer.from('\n')]),
  ]);
  const count = (type: string) => changed.filter(({ head }) => head.startsWith(type)).length;
  writeFileSync(
    archive,
    gzipSync(Buffer.concat([body, Buffer.from(`end ${count('entry')} ${count('blob')} ${sha256Hex(body)}\n`)])),
  );
}

/** An entry with other content and a checksum that is right. */
function forged(record: Record, change: (text: string) => string): Record {
  const text = change(record.bytes.toString().replace(/,"checksum":"[0-9a-f]{64}"}$/, ''));
  return { ...record, bytes: Buffer.from(`${text},"checksum":"${sha256Hex(text)}"}`) };
}

const changeEntries = (change: (text: string) => string) =>
  rebuild((records) => records.map((record) => (record.head.startsWith('entry') ? forged(record, change) : record)));

describe('an archive', () => {
  test('brings everything to another store, byte for byte', async () => {
    const entries = fill();
    expect(await exportArchive(here.options(), archive)).toMatchObject({ entries: 3, blobs: 1, skipped: 0 });
    expect(await importThere()).toEqual({ entries: 3, blobs: 1, known: 0 });
    const store = openStore(there.options());
    for (const entry of entries) expect(store.peek(entry.key, { now: Date.now() })).toMatchObject({ entry });
    const { digest } = entries[1]!.files[0]!;
    expect(readFileSync(blobPath(there.dir, digest))).toEqual(readFileSync(blobPath(here.dir, digest)));
    expect(await listEntries(there.options())).toHaveLength(3);
    expect(readdirSync(there.dir).filter((name) => name.startsWith('import-'))).toEqual([]);
  });

  test('is the same for the same store, and does not hold its secret', async () => {
    fill();
    openStore(here.options()).seal('x');
    await exportArchive(here.options(), archive);
    const first = readFileSync(archive);
    await exportArchive(here.options(), archive);
    expect(readFileSync(archive)).toEqual(first);
    const secret = readFileSync(join(here.dir, 'secret'), 'utf8');
    expect(gunzipSync(first).includes(secret)).toBe(false);
  });

  test('can be imported twice; what is newer stays', async () => {
    const [one] = fill();
    await exportArchive(here.options(), archive);
    openStore(there.options()).put({ ...one!, createdAt: Date.now() + 1_000, output: { text: 'newer', json: null } });
    expect(await importThere()).toMatchObject({ entries: 2, known: 1 });
    expect(await importThere()).toMatchObject({ entries: 0, known: 3 });
    expect(openStore(there.options()).get(one!.key, { now: Date.now() })).toMatchObject({
      entry: { output: { text: 'newer' } },
    });
  });

  test('leaves damaged entries and ones without their files at home', async () => {
    const [one, two] = fill();
    writeFileSync(entryPath(here.dir, one!.key), 'garbage');
    rmSync(blobPath(here.dir, two!.files[0]!.digest));
    expect(await exportArchive(here.options(), archive)).toMatchObject({ entries: 0, blobs: 0, skipped: 3 });
  });

  test('leaves entries at home whose files hold other bytes of the same length', async () => {
    const [, two] = fill();
    const { digest } = two!.files[0]!;
    const path = blobPath(here.dir, digest);
    const { length } = readFileSync(path);
    chmodSync(path, 0o600);
    writeFileSync(path, 'x'.repeat(length));
    const exported = await exportArchive(here.options(), archive);
    expect(exported).toMatchObject({ blobs: 0 });
    expect(exported).not.toMatchObject({ skipped: 0 });
    expect(await importThere()).not.toHaveProperty('refused');
  });

  test('of nothing is an archive', async () => {
    expect(await exportArchive(here.options(), archive)).toMatchObject({ entries: 0 });
    expect(await importThere()).toEqual({ entries: 0, blobs: 0, known: 0 });
  });

  test('that cannot be written says so and leaves nothing', async () => {
    fill();
    const target = join(here.root, 'no/such/folder/x');
    expect(await exportArchive(here.options(), target)).toHaveProperty('failed');
    expect(existsSync(dirname(target))).toBe(false);
  });
});

describe('an archive is refused whole, with the reason, when', () => {
  beforeEach(async () => {
    fill();
    await exportArchive(here.options(), archive);
  });

  async function expectRefused(reason: RegExp, signingKey?: string): Promise<void> {
    const result = await importThere(signingKey);
    expect(result).toMatchObject({ refused: expect.stringMatching(reason) });
    expectNothingTaken();
  }

  test('it is something else', async () => {
    for (const text of ['', 'hello', gzipSync('hello\nworld'), gzipSync(Buffer.alloc(100_000))]) {
      writeFileSync(archive, text);
      await expectRefused(/./);
    }
    rmSync(archive);
    await expectRefused(/^there is no such file$/);
  });

  test('it is cut short anywhere', async () => {
    const whole = readFileSync(archive);
    for (const share of [0.1, 0.5, 0.9, 0.99]) {
      writeFileSync(archive, whole.subarray(0, Math.floor(whole.length * share)));
      await expectRefused(/./);
    }
    const unzipped = gunzipSync(whole);
    writeFileSync(archive, gzipSync(unzipped.subarray(0, unzipped.length - 100)));
    await expectRefused(/cut short|missing|begin/);
  });

  test('any byte of it was changed', async () => {
    const whole = gunzipSync(readFileSync(archive));
    for (let at = 0; at < whole.length; at += 997) {
      const bytes = Buffer.from(whole);
      bytes[at] = bytes[at]! ^ 4;
      writeFileSync(archive, gzipSync(bytes));
      await expectRefused(/./);
    }
  });

  test('its last line is about something else', async () => {
    const text = gunzipSync(readFileSync(archive)).toString('latin1');
    const other = text.replace(/[0-9a-f]{64}\n$/, `${sha256Hex('other')}\n`);
    writeFileSync(archive, gzipSync(Buffer.from(other, 'latin1')));
    await expectRefused(/checksum does not match/);
    writeFileSync(archive, gzipSync(Buffer.from(text.replace(/end 3 1 /, 'end 2 1 '), 'latin1')));
    await expectRefused(/missing/);
  });

  test('there is something behind its end', async () => {
    writeFileSync(archive, gzipSync(Buffer.concat([gunzipSync(readFileSync(archive)), Buffer.from('more')])));
    await expectRefused(/behind its end/);
  });

  test('a result was changed and all checksums made right: only a signature shows it', async () => {
    changeEntries((text) => text.replace('output of one', 'output of eve'));
    expect(await importThere()).toMatchObject({ entries: 3 });
    there.remove();
    await expectRefused(/not signed/, 'k');
  });

  test('an identity was changed: the key says so', async () => {
    changeEntries((text) => text.replace('"task":"one"', '"task":"two"'));
    await expectRefused(/identity belongs to another key/);
  });

  test('an entry carries the name of another', async () => {
    rebuild((records) => {
      const [first, second] = records.filter(({ head }) => head.startsWith('entry'));
      return records.map((record) => (record === first ? { ...record, bytes: second!.bytes } : record));
    });
    await expectRefused(/another key/);
  });

  test('a file would be written where it must not', async () => {
    const whole = readFileSync(archive);
    for (const path of [
      '../../x',
      '/etc/cron.d/x',
      '.git/hooks/pre-commit',
      'a/../../b',
      '.pi/taskflows/config.yaml',
    ]) {
      writeFileSync(archive, whole);
      changeEntries((text) => text.replace('"dist/two"', JSON.stringify(path)));
      await expectRefused(/no place for a file/);
    }
  });

  test('a link would lead where it must not', async () => {
    const whole = readFileSync(archive);
    for (const target of ['../.git/hooks', '../.pi/agents', '../..', '/etc', '../.GIT', 'x'.repeat(5_000)]) {
      writeFileSync(archive, whole);
      const digest = sha256Hex(target);
      const link = JSON.stringify([{ path: 'dist/l', digest, mode: 0o120777 }]);
      changeEntries((text) => text.replace(/"files":\[\{"path":"dist\/two".*?\]/, `"files":${link}`));
      rebuild((records) => [{ head: `blob ${digest}`, bytes: Buffer.from(target) }, ...records]);
      await expectRefused(/is a link that leaves the project, or leads to \.git or \.pi/);
    }
  });

  test('a blob is not what its name says, or is missing', async () => {
    const whole = readFileSync(archive);
    rebuild((records) =>
      records.map((record) => (record.head.startsWith('blob') ? { ...record, bytes: Buffer.from('evil') } : record)),
    );
    await expectRefused(/not what its name says/);
    writeFileSync(archive, whole);
    rebuild((records) => records.filter(({ head }) => !head.startsWith('blob')));
    await expectRefused(/is missing/);
  });

  test('a name is no key', async () => {
    rebuild((records) =>
      records.map((record) => ({ ...record, head: record.head.replace(/[0-9a-f]{64}/, '../../x') })),
    );
    await expectRefused(/begin/);
  });

  test('an entry is from the future', async () => {
    changeEntries((text) => text.replace(/"createdAt":\d+/, `"createdAt":${Date.now() + 3_600_000}`));
    await expectRefused(/future/);
  });

  test('an entry is of another format', async () => {
    changeEntries((text) => text.replace('"format":1', '"format":7'));
    await expectRefused(/another format/);
  });

  test('it is larger than the cache may be, or unpacks to more', async () => {
    const limits = { maxBytes: 1_000, maxEntries: 100, maxAgeMs: 1e9 };
    expect(await importThere(undefined, { limits })).toMatchObject({
      refused: expect.stringMatching(/more than the cache/),
    });
    expectNothingTaken();
    const few = { maxBytes: 1e9, maxEntries: 2, maxAgeMs: 1e9 };
    expect(await importThere(undefined, { limits: few })).toMatchObject({
      refused: expect.stringMatching(/more entries/),
    });
    expectNothingTaken();
  });

  test('the same record is in it twice', async () => {
    rebuild((records) => [...records, records.at(-1)!]);
    await expectRefused(/twice/);
  });
});

test('a signed archive is imported with its key, and with no other', async () => {
  fill('k1');
  await exportArchive(here.options({ signingKey: 'k1' }), archive);
  expect(await importThere('k2')).toMatchObject({ refused: expect.stringContaining('signature does not match') });
  expectNothingTaken();
  expect(await importThere('k1')).toMatchObject({ entries: 3 });
});

test('a store that cannot be written refuses', async () => {
  fill();
  await exportArchive(here.options(), archive);
  mkdirSync(dirname(dirname(there.dir)), { recursive: true });
  writeFileSync(dirname(there.dir), 'a file');
  expect(await importThere()).toHaveProperty('refused');
});

describe('export beside others', () => {
  test('a store that is cleared meanwhile gives an archive that can be imported', async () => {
    const store = openStore(here.options());
    for (let i = 0; i < 300; i++) {
      writeFileSync(join(here.root, 'file'), `content ${i}`.repeat(2_000));
      const kept = store.blobs.keep(join(here.root, 'file'));
      if ('failed' in kept) throw new Error(kept.failed);
      store.put(entryFor(`n${i}`, { files: [{ path: `dist/${i}`, ...kept }] }));
    }
    const exporting = exportArchive(here.options(), archive);
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const row of (await listEntries(here.options())).slice(0, 200)) rmSync(entryPath(here.dir, row.key));
    const { clearEntries } = await import('../../src/store/clear-entries.js');
    expect(await clearEntries(here.options(), { all: true })).toHaveProperty('entries');
    expect(await exporting).toHaveProperty('entries');
    expect(await importThere()).toHaveProperty('entries');
  });

  test('an entry that was replaced since, with other files, stays at home', async () => {
    const [, two] = fill();
    const { maybeCollect } = await import('../../src/store/maybe-collect.js');
    const store = openStore(here.options());
    store.put(entryFor('four'));
    await maybeCollect(store);
    writeFileSync(join(here.root, 'file'), 'another content');
    const kept = store.blobs.keep(join(here.root, 'file'));
    if ('failed' in kept) throw new Error(kept.failed);
    // By a run that has not ended: the index does not know of it.
    openStore(here.options()).put({ ...two!, files: [{ path: 'dist/two', ...kept }] });
    expect(await exportArchive(here.options(), archive)).toMatchObject({ entries: 3, skipped: 1 });
    expect(await importThere()).toMatchObject({ entries: 3 });
  });

  test('what a killed export has left is removed by the next one', async () => {
    fill();
    for (const [name, age] of [
      ['cache.archive.12-1-abc.tmp', 7_200],
      ['cache.archive.13-1-abc.tmp', 60],
      ['other.archive.12-1-abc.tmp', 7_200],
    ] as const) {
      writeFileSync(join(here.root, name), 'half');
      utimesSync(join(here.root, name), Date.now() / 1_000 - age, Date.now() / 1_000 - age);
    }
    await exportArchive(here.options(), archive);
    expect(readdirSync(here.root).filter((name) => name.endsWith('.tmp'))).toEqual([
      'cache.archive.13-1-abc.tmp',
      'other.archive.12-1-abc.tmp',
    ]);
  });
});
