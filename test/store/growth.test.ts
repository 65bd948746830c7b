import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/util/clock.js';
import { LIMITS } from '../contracts/store-support.js';
import { createTestProject, type TestProject } from '../support/cli.js';
import { effort } from '../support/effort.js';
import { fillStore } from '../support/fill-store.js';

const HOOK = fileURLToPath(new URL('../../bench/lib/usage-hook.cjs', import.meta.url));
const SMALL = effort(300, 10_000);
const LARGE = 10 * SMALL;

const opened: TestProject[] = [];
afterEach(() => {
  for (const project of opened.splice(0)) project.remove();
});

function projectWith(entries: number): TestProject {
  const project = createTestProject();
  opened.push(project);
  const dir = join(project.root, '.pi/taskflows/cache');
  fillStore(
    { dir, project: { root: project.root, home: project.root, env: {}, clock: systemClock }, limits: LIMITS },
    entries,
  );
  return project;
}

async function measure(project: TestProject, args: readonly string[]): Promise<{ ms: number; megabytes: number }> {
  const usage = join(project.root, 'usage');
  const { status, stderr } = await project.run(args, {
    env: { NODE_OPTIONS: `--require ${HOOK}`, BENCH_USAGE_FILE: usage },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) });
  const { cpuMs, peakMb } = JSON.parse(readFileSync(usage, 'utf8')) as Record<'cpuMs' | 'peakMb', number>;
  return { ms: cpuMs, megabytes: peakMb };
}

test('ten times the entries take at most some twenty times the time, and hardly more memory', async () => {
  const [small, large] = [projectWith(SMALL), projectWith(LARGE)];
  for (const project of [small, large]) {
    writeFileSync(join(project.root, '.pi/taskflows/config.yaml'), 'cache: { maxEntries: 1000000 }\n');
  }
  for (const args of [
    ['status'],
    ['list'],
    ['verify'],
    ['export', 'all.tfc'],
    ['clear', 'f1'],
    ['gc'],
    ['import', 'all.tfc'],
  ]) {
    const name = `cache ${args.join(' ')}`;
    const before = await measure(small, ['cache', ...args]);
    const after = await measure(large, ['cache', ...args]);
    expect(after.ms / before.ms, name).toBeLessThan(25);
    // An object for each row would be a kilobyte and more.
    expect(after.megabytes - before.megabytes, name).toBeLessThan(20 + (0.8 * (LARGE - SMALL)) / 1024);
  }
}, 600_000);
