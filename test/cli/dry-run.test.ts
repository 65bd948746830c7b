import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
let saved: string;
const phases = [
  { id: 'a', type: 'script', run: ['echo', '1'], cache: { scope: 'cross-run', fingerprint: [] } },
  { id: 'e', type: 'script', run: ['echo', 'fired'], idempotent: false, dependsOn: ['a'] },
  { id: 'n', type: 'flow', use: './inner.json', dependsOn: ['e'] },
  { id: 'd', type: 'script', run: ['echo', '{steps.n.output}'] },
];
const inner = [
  { id: 'i', type: 'script', run: ['echo', 'i'] },
  { id: 'j', type: 'script', run: 'test -e ok && echo j', dependsOn: ['i'] },
];

interface Phase {
  readonly id: string;
  readonly would: string;
  readonly status: string;
  readonly cacheHit: string | null;
}

beforeAll(async () => {
  project = createTestProject({
    'flow.json': JSON.stringify({ name: 'demo', phases }),
    'inner.json': JSON.stringify({ name: 'inner', phases: inner }),
  });
  const { stdout } = await project.run(['run', './flow.json', '--json']);
  project.write('result.json', stdout);
  await project.run(['checkpoint', 'export', 'last', '--out', 'run.json']);
  project.write('ok', '');
  saved = mkdtempSync(join(tmpdir(), 'taskflow-test-'));
  cpSync(project.root, saved, { recursive: true, preserveTimestamps: true });
});
afterAll(() => {
  project.remove();
  rmSync(saved, { recursive: true, force: true });
});

/** In its own place: runs in a copy elsewhere are not continued by themselves. */
beforeEach(() => {
  rmSync(project.root, { recursive: true });
  cpSync(saved, project.root, { recursive: true, preserveTimestamps: true });
});

function done({ status, cacheHit }: Phase): string {
  if (cacheHit !== null) return 'reuse';
  return status === 'skipped' ? 'skip' : 'run';
}

it.each([
  ['', 'a reuse'],
  ['--resume', 'a reuse, e reuse, n run'],
  ['--resume-from run.json', 'a reuse, e reuse, n run'],
  ['--resume-from result.json', 'a reuse, e reuse, n run'],
  ['--resume-from run.json --rerun a', 'a run'],
  ['--resume-from run.json --until e', 'a reuse, e reuse, n skip, d skip'],
  ['--from n', 'a reuse, e reuse, n run'],
  ['--only e', 'a reuse, e run, n skip, d skip'],
  ['--resume --skip d', 'e reuse, n run, d skip'],
  ['--rerun a', 'a run'],
  // A side effect that is done: skipped, it is kept as that.
  ['--skip e', 'a reuse, e reuse'],
  ['--fresh --rerun e', 'a reuse, e run'],
])('what --dry-run %s foresees is what happens', async (flags, foreseen) => {
  const run = async (...more: string[]) => {
    const args = ['run', './flow.json', '--json', ...flags.split(' ').filter(Boolean), ...more];
    return JSON.parse((await project.run(args)).stdout);
  };
  const forecast = await run('--dry-run');
  const real = await run();
  expect(forecast.continues?.runId).toBe(real.continues);
  const known = (forecast.phases as Phase[]).filter(({ would }) => would !== 'unknown');
  const happened = new Map((real.phases as Phase[]).map((phase) => [phase.id, done(phase)]));
  for (const { id, would } of known) expect(`${id} ${would}`).toBe(`${id} ${happened.get(id)}`);
  expect(known.map(({ id, would }) => `${id} ${would}`).join(', ')).toContain(foreseen);
});

it('a fresh start would stop at a side effect that an unfinished run has done, and it does', async () => {
  const forecast = JSON.parse((await project.run(['run', './flow.json', '--fresh', '--dry-run', '--json'])).stdout);
  const effect = (forecast.phases as (Phase & { reason: string })[]).find(({ id }) => id === 'e');
  expect([effect?.would, effect?.reason]).toEqual(['fail', expect.stringContaining('was completed in run')]);
  expect((await project.run(['run', './flow.json', '--fresh'])).status).toBe(4);
});

it('a checkpoint that a run would refuse is refused', async () => {
  project.write('other.json', JSON.stringify({ name: 'other', phases: [phases[0]] }));
  for (const args of [
    ['./other.json', '--resume-from', 'run.json'],
    ['./flow.json', '--resume-from', 'nowhere.json'],
    ['./flow.json', '--events'],
  ]) {
    expect((await project.run(['run', ...args, '--dry-run'])).status).toBe(2);
  }
});
