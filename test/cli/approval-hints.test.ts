import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
afterEach(() => project?.remove());

const INNER = `name: inner
args: { of: { default: it } }
phases:
  - { id: ask, type: approval, task: "Ship {args.of}?" }
  - { id: done, type: script, run: [echo, "shipped {args.of}"], dependsOn: [ask] }
`;

/** Types a line that was printed into a real shell, in which `taskflow` is ours. */
async function typed(line: string): Promise<string> {
  const shell = `taskflow() { '${process.execPath}' '${CLI}' "$@"; }\n${line}\n`;
  const env = cliEnvironment(project.root) as NodeJS.ProcessEnv;
  const { stdout } = await promisify(execFile)('bash', ['-O', 'failglob', '-c', shell], { cwd: project.root, env });
  return stdout;
}

const hints = (text: string, verb: string) =>
  [...text.matchAll(/taskflow approve \S+ (?:'[^']+'|\S+)/g)].map(([hint]) => hint.replace('approve', verb));

it.each(['approve', 'reject'])(
  'the hint for an approval in a nested flow is a command that works: %s',
  async (verb) => {
    project = createTestProject({
      'inner.yaml': INNER,
      'flow.yaml': 'name: outer\nphases:\n  - { id: review, type: flow, use: ./inner.yaml }\n',
    });
    const { status, stderr } = await project.run(['run', 'flow.yaml']);
    expect(status).toBe(4);
    const [hint, ...more] = hints(stderr, verb);
    expect(more).toEqual([]);
    expect(hint).toMatch(/ review\/ask$/);
    expect(await typed(hint!)).toBe(`${verb === 'approve' ? 'approved' : 'rejected'}: Ship it?\n`);
    const resumed = await project.run(['resume', 'last']);
    expect(resumed.status).toBe(verb === 'approve' ? 0 : 3);
  },
);

it('in a map each question has its own, also in what runs show and the JSON result say', async () => {
  project = createTestProject({
    'inner.yaml': INNER,
    'flow.yaml': `name: outer
phases:
  - { id: each, type: map, over: [a, b], as: n, use: ./inner.yaml, with: { of: "{n}" } }
`,
  });
  const { stdout, stderr } = await project.run(['run', 'flow.yaml', '--json']);
  const printed = hints(stderr, 'approve');
  expect(printed).toHaveLength(2);
  expect(hints((await project.run(['runs', 'show', 'last'])).stdout, 'approve').sort()).toEqual([...printed].sort());
  expect(printed).toContain(hints(JSON.parse(stdout).error.hint, 'approve')[0]);
  expect((await typed(printed[0]!)) + (await typed(printed[1]!))).toMatch(
    /approved: Ship [ab]\?\napproved: Ship [ab]\?\n/,
  );
  const resumed = await project.run(['resume', 'last']);
  expect(resumed).toMatchObject({ status: 0, stdout: 'shipped a\n\nshipped b\n' });
});

it('in rows of a batch they name the row', async () => {
  project = createTestProject({
    'inner.yaml': INNER,
    'flow.yaml': `name: outer
args: { topic: {} }
phases:
  - { id: each, type: map, over: ["{args.topic}"], as: n, use: ./inner.yaml, with: { of: "{n}" } }
`,
    'topics.txt': 'sea\nsky\n',
  });
  expect((await project.run(['batch', 'flow.yaml', '--over', 'topics.txt'])).status).toBe(4);
  const shown = hints((await project.run(['runs', 'show', 'last'])).stdout, 'approve');
  expect(shown).toHaveLength(2);
  for (const hint of shown) expect(await typed(hint)).toMatch(/^approved: Ship (sea|sky)\?\n$/);
  expect((await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--resume'])).status).toBe(0);
});
