import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeFileAtomic, writeNote } from '../../src/util/atomic-write.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'atomic-'));
});
afterEach(() => {
  chmodSync(dir, 0o700);
  rmSync(dir, { recursive: true });
});

test('the new content is whole, private and leaves no temporary file', () => {
  const path = join(dir, 'a.json');
  writeFileSync(path, 'old');
  expect(writeFileAtomic(path, 'new')).toEqual({ written: true });
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(['a.json']);
});

test('a write that fails says so, keeps the old content and cleans up', () => {
  mkdirSync(join(dir, 'taken'));
  writeFileSync(join(dir, 'taken', 'x'), '');
  const result = writeFileAtomic(join(dir, 'taken'), 'text');
  expect(result).toHaveProperty('failed');
  expect(readdirSync(dir)).toEqual(['taken']);
  expect(writeFileAtomic(join(dir, 'no', 'such', 'folder'), 'text')).toMatchObject({ failed: { code: 'ENOENT' } });
});

test('a note is written over one of the same length, and replaces every other file', () => {
  const path = join(dir, 'note');
  const inode = () => statSync(path).ino;
  expect(writeNote(path, 'first')).toEqual({ written: true });
  const first = inode();
  expect(writeNote(path, 'again')).toEqual({ written: true });
  expect([readFileSync(path, 'utf8'), inode()]).toEqual(['again', first]);
  for (const text of ['longer', 'short']) {
    const before = inode();
    expect(writeNote(path, text)).toEqual({ written: true });
    expect([readFileSync(path, 'utf8'), inode() === before]).toEqual([text, false]);
  }
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(['note']);
});

test('what a note shares with somebody else, or only points at, is left alone', () => {
  const [note, other] = [join(dir, 'note'), join(dir, 'other')];
  for (const share of [linkSync, symlinkSync]) {
    writeFileSync(other, 'theirs');
    share(other, note);
    expect(writeNote(note, 'mine!!')).toEqual({ written: true });
    expect([readFileSync(other, 'utf8'), readFileSync(note, 'utf8')]).toEqual(['theirs', 'mine!!']);
    rmSync(note);
  }
});
