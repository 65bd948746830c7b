import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  const phase = { id: 'a', type: 'script', run: ['echo', 'hi'], cache: { scope: 'cross-run', fingerprint: [] } };
  project = createTestProject({ 'flow.json': JSON.stringify({ name: 'demo', phases: [phase] }) });
  rmSync(join(project.root, '.pi'), { recursive: true });
});
afterEach(() => {
  chmodSync(project.root, 0o755);
  project.remove();
});

const obstacles = [
  ['.pi is a file', '.pi is a file, not a folder', () => writeFileSync(join(project.root, '.pi'), '')],
  ['a folder without permission', 'no permission to write to', () => chmodSync(project.root, 0o555)],
] as const;

// Nothing is forbidden to root.
const found = obstacles.filter(([name]) => process.getuid?.() !== 0 || name === '.pi is a file');

it.each(found)('%s: a run goes on and says what cannot be written, where, and what to do', async (_, why, make) => {
  make();
  const { status, stdout, stderr } = await project.run(['run', './flow.json']);
  expect([status, stdout]).toEqual([0, 'hi\n']);
  const [journal, cache] = stderr.split('\n').filter((line) => line.startsWith('warning:'));
  for (const line of [journal, cache]) expect(line).toContain(why);
  expect(journal).toMatch(/the run's journal cannot be written .*cannot be continued later; .*--cwd/);
  expect(cache).toContain('cannot write to the cache');
  expect(stderr).not.toMatch(/ENOENT|ENOTDIR|EACCES/);
});

it.each(found)('%s: a run that fails sends nobody to a run that is nowhere', async (_, _why, make) => {
  project.write('flow.json', JSON.stringify({ name: 'demo', phases: [{ id: 'a', type: 'script', run: ['false'] }] }));
  make();
  const { status, stderr } = await project.run(['run', './flow.json']);
  expect(status).toBe(1);
  expect(stderr).not.toMatch(/taskflow (trace|resume)/);
});

it.each(found)('%s: whatever writes to the project says the same', async (_, why, make) => {
  make();
  for (const args of [['init'], ['new', 'x'], ['config', 'set', 'runner', 'pi']]) {
    const { status, stdout, stderr } = await project.run([...args, '--json']);
    expect(status).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({
      message: expect.stringContaining(why),
      hint: expect.stringContaining('--cwd'),
    });
    expect(stderr).toContain('.pi/taskflows/');
    expect(stderr).not.toMatch(/ENOENT|ENOTDIR|EACCES/);
  }
  const doctor = await project.run(['doctor']);
  expect(doctor.status).toBe(1);
  expect(doctor.stdout).toMatch(new RegExp(`✖ project .*${why}`));
});
