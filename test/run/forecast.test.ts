import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
afterEach(() => project?.remove());

// What is written in the tick of the clock in which the run ends may have been written after it.
const INNER = `name: inner
args: { of: { default: all } }
phases:
  - { id: look, type: script, run: [sh, -c, 'echo x >> look.count; sleep 0.05; echo "$0"', "{args.of}"] }
`;

it('a dry run says of a nested flow what its phases say', async () => {
  project = createTestProject({
    'flow.yaml': `name: outer
phases:
  - { id: one, type: flow, use: ./inner.yaml }
  - { id: each, type: map, over: [a, b], as: n, use: ./inner.yaml, with: { of: "{n}" } }
`,
    'inner.yaml': INNER,
  });
  const { stdout } = await project.run(['run', 'flow.yaml', '--dry-run', '--json']);
  const said = (text: string) => JSON.parse(text).phases.map(({ would }: { would: string }) => would);
  expect(said(stdout)).toEqual(['run', 'run']);
  await project.run(['run', 'flow.yaml']);
  expect(readFileSync(join(project.root, 'look.count'), 'utf8')).toBe('x\n'.repeat(3));
  const again = await project.run(['run', 'flow.yaml', '--dry-run', '--json', '--iterate']);
  expect(said(again.stdout)).toEqual(['reuse', 'reuse']);
});

it('a dry run says what another phase of the run makes, as the run then shares it', async () => {
  project = createTestProject({
    'flow.yaml': `name: outer
phases:
  - { id: one, type: flow, use: ./inner.yaml }
  - { id: two, type: flow, use: ./inner.yaml, dependsOn: [] }
`,
    'inner.yaml': INNER.replace('"] }', '"], cache: { scope: cross-run, fingerprint: [] } }'),
  });
  const { stdout } = await project.run(['run', 'flow.yaml', '--dry-run', '--json']);
  expect(JSON.parse(stdout).phases.map(({ would }: { would: string }) => would)).toEqual(['run', 'shared']);
  const { reuse } = JSON.parse((await project.run(['run', 'flow.yaml', '--json'])).stdout);
  expect(reuse).toMatchObject({ executed: 1 });
  expect(readFileSync(join(project.root, 'look.count'), 'utf8')).toBe('x\n');
});

it('a dry run says what would fail before it starts, and goes on with what does not depend on it', async () => {
  project = createTestProject({
    'flow.yaml': `name: broken
phases:
  - { id: read, type: agent, runner: echoing, task: "sum up", context: [notes.md] }
  - { id: after, type: script, run: [echo, after], dependsOn: [read] }
  - { id: apart, type: script, run: [echo, apart] }
`,
    '.pi/taskflows/config.yaml': 'runners:\n  echoing: { command: [cat], format: text, model: m }\n',
  });
  const { stdout } = await project.run(['run', 'flow.yaml', '--dry-run', '--json']);
  const { phases } = JSON.parse(stdout) as { phases: { id: string; would: string; reason: string }[] };
  expect(phases.map(({ id, would }) => `${id} ${would}`)).toEqual(['read fail', 'after skip', 'apart run']);
  expect(phases[1]!.reason).toBe('needs read, which would fail');
  const text = (await project.run(['run', 'flow.yaml', '--dry-run'])).stdout;
  expect(text).toMatch(/read +would fail: .*notes\.md/);
});
