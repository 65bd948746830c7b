import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/util/clock.js';
import { LIMITS } from '../contracts/store-support.js';
import { createTestProject, type TestProject } from '../support/cli.js';
import { effort } from '../support/effort.js';
import { fillStore } from '../support/fill-store.js';
import { startCli } from '../support/live-cli.js';

const ENTRIES = effort(3_000, 20_000);
/** Half a second on a machine that does nothing else. */
const SOON_MS = 4_000;

let project: TestProject;
let dir: string;
beforeEach(() => {
  project = createTestProject();
  dir = join(project.root, '.pi/taskflows/cache');
  fillStore(optionsAt(dir), ENTRIES);
});
afterEach(() => project.remove());

function optionsAt(store: string) {
  return {
    dir: store,
    project: { root: project.root, home: project.root, env: {}, clock: systemClock },
    limits: LIMITS,
  };
}

const names = () => readdirSync(dir).filter((name) => /lock|tmp/.test(name));
const entries = () => readdirSync(dir).filter((name) => /^[0-9a-f]{64}\.json$/.test(name)).length;

/** Sends a real SIGINT when the command is at work, which its lock or its unfinished file shows. */
async function interrupt(args: readonly string[], isAtWork: () => boolean): Promise<void> {
  const cli = startCli(args, { cwd: project.root });
  while (!isAtWork() && cli.child.exitCode === null) await pause(1);
  await pause(20);
  const sent = performance.now();
  cli.kill('SIGINT');
  const { status, stderr } = await cli.done;
  expect({ status, stderr }).toMatchObject({ status: 130, stderr: expect.stringContaining('interrupted') });
  expect(performance.now() - sent).toBeLessThan(SOON_MS);
}

async function expectInOrder(): Promise<void> {
  expect(names()).toEqual([]);
  const verified = await project.run(['cache', 'verify']);
  expect(verified).toMatchObject({ status: 0 });
  expect(verified.stdout).toContain(`entries   ${entries()} checked`);
}

test.each([
  ['verify', ['cache', 'verify']],
  ['gc', ['cache', 'gc']],
  ['clear FLOW', ['cache', 'clear', 'f1']],
])(
  'cache %s ends soon after Ctrl-C and leaves the store in order',
  async (_name, args) => {
    await interrupt(args, () => existsSync(join(dir, 'maintenance.lock')));
    await expectInOrder();
  },
  120_000,
);

test('an interrupted export leaves no file', async () => {
  const isAtWork = () => readdirSync(project.root).some((name) => name.endsWith('.tmp'));
  await interrupt(['cache', 'export', 'all.tfc'], isAtWork);
  expect(readdirSync(project.root).filter((name) => name.includes('tfc'))).toEqual([]);
  await expectInOrder();
}, 120_000);

test('an import that is interrupted while the archive is checked imports nothing', async () => {
  expect(await project.run(['cache', 'export', 'all.tfc'])).toMatchObject({ status: 0 });
  expect(await project.run(['cache', 'clear', '--all'])).toMatchObject({ status: 0 });
  await interrupt(['cache', 'import', 'all.tfc'], () => names().some((name) => name.startsWith('import-')));
  await expectInOrder();
  expect(await project.run(['cache', 'import', 'all.tfc'])).toMatchObject({ status: 0 });
  expect(entries()).toBe(ENTRIES);
  await expectInOrder();
}, 120_000);
