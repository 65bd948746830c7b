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
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeFileAtomic, writeFileTidily } from '../../src/util/atomic-write.js';

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
  mkdirSync(join(dir, 'folder'));
  writeFileSync(join(dir, 'folder', 'x'), '');
  const result = writeFileAtomic(join(dir, 'folder'), 'text');
  expect(result).toHaveProperty('failed');
  expect(readdirSync(dir)).toEqual(['folder']);
  expect(writeFileAtomic(join(dir, 'no', 'such', 'folder'), 'text')).toMatchObject({ failed: { code: 'ENOENT' } });
});

test('what shares its content with another name, or only points at it, is left alone', () => {
  const [path, other] = [join(dir, 'file'), join(dir, 'other')];
  for (const share of [linkSync, symlinkSync]) {
    writeFileSync(other, 'theirs');
    share(other, path);
    expect(writeFileAtomic(path, 'mine!!')).toEqual({ written: true });
    expect([readFileSync(other, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['theirs', 'mine!!']);
    rmSync(path);
  }
});

test('what a killed process left beside a file goes when the file is written again, and nothing else does', () => {
  const path = join(dir, 'config.yaml');
  const old = new Date(Date.now() - 2 * 3_600_000);
  const names = [
    'config.yaml.123-1-abc.tmp',
    'config.yaml.124-1-abd.tmp',
    'other.yaml.123-1-abc.tmp',
    'config.yaml.tmp',
  ];
  for (const name of names) writeFileSync(join(dir, name), 'half');
  for (const name of names.filter((each) => !each.includes('124'))) utimesSync(join(dir, name), old, old);
  expect(writeFileTidily(path, 'whole')).toEqual({ written: true });
  expect(readdirSync(dir).sort()).toEqual([...names.slice(1), 'config.yaml'].sort());
});
