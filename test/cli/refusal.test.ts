import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject({
    'good.json': JSON.stringify({
      name: 'good',
      args: { n: { type: 'number' } },
      phases: [{ id: 'a', type: 'script', run: ['true'] }],
    }),
    'bad.json':
      '{\n  "name": "bad",\n  "phases": [{ "id": "a", "type": "script", "run": ["true"], "x": 1, "y": 2 }]\n}\n',
    'rows.jsonl': '{"n": "one"}\n{"n": "two"}\n',
  });
});
afterEach(() => project.remove());

it.each([
  ['run ./bad.json'],
  ['run ./bad.json --dry-run'],
  ['batch ./bad.json --over rows.jsonl'],
  ['graph ./bad.json'],
  ['cache status ./bad.json'],
  ['cache explain ./bad.json'],
])('%s --json gives a flow’s problems where a program reads, as check --json has them', async (line) => {
  const checked = await project.run(['check', './bad.json', '--json']);
  const { status, stdout, stderr } = await project.run([...line.split(' '), '--json']);
  const told = JSON.parse(stdout);
  expect(told.problems).toEqual(JSON.parse(checked.stdout));
  expect(told.problems).toHaveLength(2);
  expect(told).toMatchObject({ status: 'refused', error: { file: 'bad.json', line: 3, code: 'unknown-field' } });
  expect(status).toBe(2);
  expect(stderr).toContain('there is no field "x"');
});

it.each([
  ['run ./nowhere.json', 'there is no flow file'],
  ['run ./good.json n=one', 'has to be a number'],
  ['run ./good.json --only b', 'no phase b'],
  ['run ./good.json --refresh --no-cache', 'contradict'],
  ['run ./good.json --resume 20200101-000000-abcdef', 'nothing has run'],
  ['run ./good.json --onyl a', 'unknown flag --onyl'],
  ['run ./good.json --cwd nowhere', 'no such folder'],
  ['run', 'FLOW is missing'],
  ['batch ./good.json', 'no rows are given'],
  ['runs show last', 'nothing has run'],
  ['cache show abc', 'no entry'],
  ['runs --limit -1', '--limit is a whole number'],
  ['cache import nowhere', 'nowhere'],
  ['cache', 'needs a command'],
  ['rnu ./good.json', 'unknown command rnu'],
])('%s --json prints one value and ends with 2', async (line, message) => {
  const { status, stdout, stderr } = await project.run([...line.split(' '), '--json']);
  const told = JSON.parse(stdout);
  expect(told).toMatchObject({ status: 'refused', error: { message: expect.stringContaining(message) } });
  expect(told.problems[0]).toEqual(told.error);
  expect(status).toBe(2);
  expect(stderr).not.toBe('');
});

it('all problems of arguments, rows and settings are in it', async () => {
  const json = async (...args: string[]) => JSON.parse((await project.run([...args, '--json'])).stdout);
  expect((await json('run', './good.json', 'n=x', 'm=1')).problems).toHaveLength(2);
  expect((await json('batch', './good.json', '--over', 'rows.jsonl')).problems).toMatchObject([
    { file: 'rows.jsonl', line: 1 },
    { file: 'rows.jsonl', line: 2 },
  ]);
  project.write('.pi/taskflows/config.yaml', 'runner: nobody\nconcurrency: many\n');
  expect((await json('run', './good.json')).problems).toMatchObject([
    { file: '.pi/taskflows/config.yaml', line: expect.any(Number) },
    { file: '.pi/taskflows/config.yaml', line: expect.any(Number) },
  ]);
});

it('among events it is one line of a type of its own', async () => {
  for (const line of ['run ./bad.json', 'run ./nowhere.json', 'batch ./bad.json --over rows.jsonl', 'run --frozn']) {
    const { status, stdout } = await project.run([...line.split(' '), '--events']);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'refused', at: expect.any(Number), runId: null });
    expect(JSON.parse(stdout).error.message).toEqual(expect.any(String));
    expect(status).toBe(2);
  }
});

it('nothing is printed on stdout for people', async () => {
  for (const line of ['run ./bad.json', 'run ./nowhere.json', 'rnu', 'run -- --json']) {
    expect(await project.run(line.split(' '))).toMatchObject({ status: 2, stdout: '' });
  }
});
