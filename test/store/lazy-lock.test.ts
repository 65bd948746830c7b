import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject({
    'flow.json': JSON.stringify({
      name: 'f',
      phases: [{ id: 'a', type: 'script', run: 'echo a', cache: { scope: 'cross-run', fingerprint: [] } }],
    }),
    // The library that proper-lockfile hears of a process's end by leaves this behind when it is loaded.
    'watch.cjs': `process.on('exit', () => {
      require('node:fs').writeFileSync('loaded', String(process.__signal_exit_emitter__ !== undefined));
    });`,
  });
});
afterEach(() => project.remove());

async function loadsLock(): Promise<boolean> {
  const NODE_OPTIONS = `--require ${join(project.root, 'watch.cjs')}`;
  expect((await project.run(['run', './flow.json'], { env: { NODE_OPTIONS } })).status).toBe(0);
  return readFileSync(join(project.root, 'loaded'), 'utf8') === 'true';
}

test('a run that keeps something loads the lock; one that only reuses just records its uses', async () => {
  expect(await loadsLock()).toBe(true);
  rmSync(join(project.root, 'loaded'));
  const log = join(project.root, '.pi/taskflows/cache/index.log');
  expect(existsSync(log)).toBe(false);
  expect(await loadsLock()).toBe(false);
  expect(existsSync(log)).toBe(true);
});
