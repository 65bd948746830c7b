import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
let outside: string;
beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), 'taskflow-outside-'));
  project = createTestProject({
    'flow.json': JSON.stringify({
      name: 'f',
      phases: [{ id: 'a', type: 'script', run: 'echo a', cache: { scope: 'cross-run', fingerprint: [] } }],
    }),
  });
});
afterEach(() => {
  project.remove();
  rmSync(outside, { recursive: true });
});

const run = () => project.run(['run', './flow.json']);

test('a cache folder outside the project is refused, whether the project says so or a link in it does', async () => {
  for (const dir of [outside, '../elsewhere', 'linked/cache', `${outside}/../x`]) {
    rmSync(join(project.root, 'linked'), { force: true });
    symlinkSync(outside, join(project.root, 'linked'));
    project.write('.pi/taskflows/config.yaml', `cache: { dir: ${dir} }\n`);
    for (const args of [
      ['run', './flow.json'],
      ['cache', 'status'],
      ['cache', 'clear', '--all'],
    ]) {
      const { status, stderr } = await project.run(args);
      expect(status, `${dir} ${args[0]}`).toBe(2);
      expect(stderr).toMatch(/is not in the project/);
      expect(stderr).toContain('--user cache.dir');
    }
  }
  expect(readdirSync(outside)).toEqual([]);
  project.write('.pi/taskflows/config.yaml', '');
  symlinkSync(outside, join(project.root, '.pi/taskflows/cache'));
  expect((await run()).status).toBe(2);
  expect(readdirSync(outside)).toEqual([]);
});

test('the user’s own settings may name one', async () => {
  const set = await project.run(['config', 'set', '--user', 'cache.dir', outside]);
  expect(set.status, set.stderr).toBe(0);
  const { status, stderr } = await run();
  expect(status, stderr).toBe(0);
  expect(readdirSync(outside).some((name) => /^[0-9a-f]{64}\.json$/.test(name))).toBe(true);
  project.write('.pi/taskflows/config.yaml', `cache: { dir: ${join(outside, 'other')} }\n`);
  expect((await run()).status, 'but not the project over them').toBe(2);
  expect(existsSync(join(outside, 'other'))).toBe(false);
});

test('a folder elsewhere in the project is fine', async () => {
  mkdirSync(join(project.root, 'build'));
  project.write('.pi/taskflows/config.yaml', 'cache: { dir: build/kept }\n');
  expect((await run()).status).toBe(0);
  expect(existsSync(join(project.root, 'build/kept/index.json'))).toBe(true);
});
