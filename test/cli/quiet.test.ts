import { afterEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
afterEach(() => project.remove());

const flow = (...phases: string[]) =>
  `name: f\nargs: { topic: { default: '' } }\nphases:\n  - ${phases.join('\n  - ')}\n`;

/** A runner whose every answer costs two dollars. */
const DEAR = `runner: dear
runners:
  dear: { command: [echo, '{"text": "hi", "usage": {"inputTokens": 1, "outputTokens": 1, "usd": 2}}'], format: json }
`;

const FAILING = flow("{ id: work, type: script, run: 'echo because >&2; exit 3' }");
const SLOW = flow("{ id: work, type: script, run: [sleep, '30'] }");
const ASKING = flow("{ id: sure, type: approval, task: 'really?' }");
const BLOCKED = flow("{ id: guard, type: gate, eval: ['1 > 2'] }");
const COSTLY = flow('{ id: a, task: one }', "{ id: b, task: 'two {steps.a.output}' }");

describe('--quiet', () => {
  it('is silent about what goes well', async () => {
    project = createTestProject({
      'flow.yaml': flow('{ id: a, type: script, run: [echo, hello] }'),
      'rows.txt': 'x\n',
    });
    expect(await project.run(['run', 'flow.yaml', '-q'])).toEqual({ status: 0, stdout: 'hello\n', stderr: '' });
    const batch = await project.run(['batch', 'flow.yaml', '--over', 'rows.txt', '-q']);
    expect(batch).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it.each([
    ['a failure', FAILING, [], 1, ['work failed: sh exited with status 3', 'because', 'taskflow trace']],
    ['the end of its time', SLOW, ['--timeout', '300ms'], 1, ['longer than --timeout allows', 'more time']],
    ['an approval', ASKING, [], 4, ['sure asks: really?', 'taskflow approve']],
    ['a gate', BLOCKED, [], 3, ['guard blocked: ']],
    ['the budget', COSTLY, ['--max-usd', '1'], 5, ['the budget of $1.00 is used up', '--max-usd N']],
  ])('says why a run did not end well, without its progress: %s', async (_, text, flags, expected, said) => {
    project = createTestProject({ 'flow.yaml': text, '.pi/taskflows/config.yaml': DEAR });
    const { status, stdout, stderr } = await project.run(['run', 'flow.yaml', '-q', ...flags]);
    expect([status, stdout]).toEqual([expected, '']);
    for (const words of said) expect(stderr).toContain(words);
    expect(stderr).not.toContain('started');
  });

  it('says which rows of a batch did not end well, and why', async () => {
    const bad = `{ id: work, type: script, run: [test, '{args.topic}', '!=', bad] }`;
    project = createTestProject({ 'flow.yaml': flow(bad), 'rows.txt': 'good\nbad\n' });
    const { status, stderr } = await project.run(['batch', 'flow.yaml', '--over', 'rows.txt', '-q']);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^✖ bad \(line 2\) failed: work: test exited with status 1\n/);
    expect(stderr).toContain('1 of 2 rows done, 1 failed');
  });
});
