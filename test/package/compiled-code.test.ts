import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
/** Beside the project: what lies in it is not believed. */
let cache: string;
let code: string;
beforeEach(() => {
  project = createTestProject();
  cache = join(mkdtempSync(join(tmpdir(), 'taskflow-compiled-')), 'user-cache');
  code = join(cache, 'taskflow/code');
});
afterEach(() => {
  project.remove();
  rmSync(join(cache, '..'), { recursive: true, force: true });
});

const list = () => project.run(['config', 'list'], { env: { XDG_CACHE_HOME: cache } });
const kept = () =>
  readdirSync(code, { recursive: true, encoding: 'utf8' })
    .map((file) => ({ file, stat: statSync(join(code, file)) }))
    .filter(({ stat }) => stat.isFile())
    .map(({ file, stat: { size, mtimeMs, ino } }) => ({ file, size, mtimeMs, ino }));

it('is kept for the user when a command has run, and taken as it is by the next one', async () => {
  const first = await list();
  expect(first.status).toBe(0);
  const files = kept();
  expect(files.length).toBeGreaterThan(0);
  expect(await list()).toEqual(first);
  expect(kept()).toEqual(files);
});

it('that is damaged is not used, and the command does what it does', async () => {
  const first = await list();
  const damages: ((bytes: Buffer) => Buffer)[] = [
    (bytes) => bytes.fill(7),
    (bytes) => bytes.subarray(0, bytes.length >> 1),
    // V8 looks at the beginning only: of what comes after it believes every byte.
    (bytes) => bytes.fill(7, bytes.length >> 2, bytes.length >> 1),
  ];
  for (const damage of damages) {
    for (const { file } of kept()) writeFileSync(join(code, file), damage(readFileSync(join(code, file))));
    expect(await list()).toEqual(first);
  }
});

it('is not kept where it cannot be, and the command does what it does', async () => {
  writeFileSync(cache, 'a file');
  expect((await list()).status).toBe(0);
});

it.skipIf(process.getuid?.() !== 0)('is not read from, nor put into, a folder of somebody else', async () => {
  mkdirSync(code, { recursive: true });
  chmodSync(code, 0o777);
  chownSync(code, 65_534, 65_534);
  expect((await list()).status).toBe(0);
  expect(kept()).toEqual([]);
});
