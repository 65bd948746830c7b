import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

/** Lines that no run of ours writes. Each is passed over like a torn one: the phase runs, and nobody breaks at it. */
const DAMAGES: readonly [string, Line][] = [
  ['an output that is a number', { output: 5 }],
  ['files that are no list', { files: { path: 'x' } }],
  ['a file without a path', { files: [{ digest: 'x', mode: 420 }] }],
  ['usage that is a text', { usage: 'much' }],
  ['a cost without usage', { cost: { durationMs: 1 } }],
  ['a time that is null', { madeAt: null }],
  ['a kind of another tool', { kind: 'teleport' }],
  ['an unknown status', { status: 'nearly' }],
  ['counts that are texts', { items: { total: '1', executed: '1', reused: '0', failed: '0' } }],
  ['a reason that is a list', { reason: [] }],
  ['inputs that are a number', { inputs: 1 }],
];

type Line = Record<string, unknown>;
let outside: string;
let project: TestProject;
beforeAll(() => {
  outside = mkdtempSync(join(tmpdir(), 'taskflow-count-'));
  project = createTestProject();
});
afterAll(() => {
  project.remove();
  rmSync(outside, { recursive: true, force: true });
});

it.each(DAMAGES)('a result with %s is passed over, and its phase runs', async (_what, damage) => {
  const log = join(outside, 'log');
  rmSync(log, { force: true });
  const count = ['sh', '-c', `echo a >> '${log}'; echo made`];
  const phases = [
    { id: 'a', type: 'script', run: count },
    { id: 'b', type: 'script', run: ['false'], dependsOn: ['a'] },
  ];
  project.write('flow.json', JSON.stringify({ name: 'demo', phases }));
  expect((await project.run(['run', './flow.json', '--fresh'])).status).toBe(1);
  const runs = join(project.root, '.pi/taskflows/runs');
  const last = readdirSync(runs)
    .filter((name) => /^\d/.test(name))
    .sort()
    .at(-1)!;
  const journal = join(runs, last, 'journal.jsonl');
  const lines = readFileSync(journal, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const made = lines.filter((line) => line['type'] === 'phase' && line['phase'] === 'a');
  expect(made).toHaveLength(1);
  Object.assign(made[0]!, damage);
  writeFileSync(journal, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);

  for (const words of [
    ['runs'],
    ['runs', 'show', last, '--json'],
    ['trace', last],
    ['explain', './flow.json', 'a'],
    ['run', './flow.json', '--dry-run'],
  ]) {
    expect((await project.run(words)).stderr, words.join(' ')).not.toContain('internal error');
  }
  const { status, stderr } = await project.run(['run', './flow.json']);
  expect([status, stderr.includes('internal error')]).toEqual([1, false]);
  expect(readFileSync(log, 'utf8')).toBe('a\na\n');
});
