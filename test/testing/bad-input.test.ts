import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openProject } from '../../src/index.js';
import { loadTest } from '../../src/testing/file/load-test.js';
import { createTestProject, type TestProject } from '../support/cli.js';
import { FLOW } from './support.js';

let project: TestProject;
afterEach(() => project.remove());

/** `line: message (hint)` of everything that is wrong with a test file. */
async function problemsOf(test: string): Promise<string[]> {
  project = createTestProject({ 'flows/review.yaml': FLOW, 'flows/review.test.yaml': test, 'flows/rows.txt': 'x\n' });
  const loaded = await loadTest(openProject(project.root), 'flows/review.test.yaml');
  const diagnostics = 'test' in loaded ? loaded.warnings : loaded.diagnostics;
  return diagnostics.map(({ line, code, message, hint }) => `${line} ${code} ${message}${hint ? ` (${hint})` : ''}`);
}

const cases = (text: string) => `flow: ./review.yaml\ncases:\n${text}`;

describe('what is wrong with a test file is said at its place', () => {
  it.each([
    ['no cases', 'flow: ./review.yaml\n', '1 missing-field the test file needs "cases"'],
    ['no file', 'flow: ./rewiew.yaml\ncases: [{ name: a }]\n', '1 unknown-flow there is no flow file ./rewiew.yaml'],
    [
      'a field',
      cases('  - name: a\n    argz: {}\n'),
      '4 unknown-field entry 1 of "cases" has no field "argz" (did you mean "args"?)',
    ],
    [
      'an expectation',
      cases('  - name: a\n    expect: { statuss: done }\n'),
      '4 unknown-field "expect" has no field "statuss" (did you mean "status"?)',
    ],
    [
      'a matcher',
      cases('  - name: a\n    expect:\n      phases: { gate: { containz: x } }\n'),
      '5 unknown-field "gate" has no field "containz" (did you mean "contains"?)',
    ],
    ['a status', cases('  - name: a\n    expect: { status: blokked }\n'), '4 bad-value "status" cannot be "blokked"'],
    [
      'two of one name',
      cases('  - name: a\n  - name: b\n  - name: a\n'),
      '5 duplicate-case case 1 is called "a" too (give one of them another name)',
    ],
    [
      'after nobody',
      cases('  - name: two files\n  - name: b\n    after: two filez\n'),
      '5 unknown-case there is no case "two filez" (did you mean "two files"?)',
    ],
    [
      'a circle',
      cases('  - name: a\n    after: b\n  - name: b\n    after: a\n'),
      '4 case-circle cases follow each other: a → b → a',
    ],
    ['itself', cases('  - name: a\n    after: a\n'), '4 case-circle cases follow each other: a → a'],
    [
      'no folder',
      cases('  - name: a\n    files: fixtures/x\n'),
      '4 no-file there is no folder fixtures/x beside the test',
    ],
    ['outside', cases('  - name: a\n    edit: { ../x: y }\n'), '4 outside-project "../x" is no file in the project'],
    [
      'git',
      cases('  - name: a\n    files: { .git/config: y }\n'),
      '4 bad-value .git/config is not for a test to write',
    ],
    [
      'a phase',
      cases('  - name: a\n    expect:\n      phases: { sumary: { status: done } }\n'),
      '5 unknown-step the flow has no phase "sumary" (did you mean "summary"?)',
    ],
    [
      'a step',
      cases('  - name: a\n    expect:\n      executed:\n        - files\n        - nots[a.txt]\n'),
      '7 unknown-step the flow has no phase "nots" (did you mean "notes"?)',
    ],
    [
      'an argument',
      cases('  - name: a\n    args: { tune: x }\n'),
      '4 bad-arg the flow has no argument "tune" (did you mean "tone"?)',
    ],
    [
      'an approval',
      cases('  - name: a\n    approvals: { gate: approve }\n'),
      '4 unknown-step the flow has no approval "gate"',
    ],
    [
      'a pattern',
      cases('  - name: a\n    expect: { output: { matches: "(" } }\n'),
      '4 bad-pattern this is no regular expression',
    ],
    ['rows', cases('  - name: a\n    over: rows.csv\n'), '4 no-file there is no file rows.csv beside the test'],
    [
      'a row',
      cases('  - name: a\n    over:\n      - { tone: x }\n      - [1]\n'),
      '6 bad-arg a row is an object of arguments or one value, not a list',
    ],
    [
      'a row that is expected',
      cases('  - name: a\n    over: [tides]\n    as: tone\n    expect: { rows: { tidez: {} } }\n'),
      '6 unknown-case there is no row "tidez" (did you mean "tides"?)',
    ],
    [
      'rows of no batch',
      cases('  - name: a\n    expect: { rows: { x: {} } }\n'),
      '4 no-effect "rows" is for cases with "over"',
    ],
    ['YAML', 'flow: [\n', '1 syntax'],
  ])('%s', async (_, test, says) => {
    const problems = await problemsOf(test);
    expect(
      problems.filter((problem) => problem.startsWith(says)),
      problems.join('\n'),
    ).toHaveLength(1);
  });

  it('a flow that has problems of its own is named with the first of them', async () => {
    const [problem] = await problemsOf(cases('  - name: a\n'));
    expect(problem).toBeUndefined();
    project.write('flows/review.yaml', FLOW.replace('type: map', 'type: mapp'));
    const loaded = await loadTest(openProject(project.root), 'flows/review.test.yaml');
    expect('diagnostics' in loaded && loaded.diagnostics[0]).toMatchObject({
      line: 1,
      code: 'unknown-flow',
      message: expect.stringMatching(/the flow has problems \(\d+:\d+ /),
      hint: 'see: taskflow check flows/review.yaml',
    });
  });
});

describe('a recording that was edited by hand', () => {
  const FILE = 'flows/recordings/review/a.json';
  const good = { request: { task: 'Note a.txt' }, result: { text: 'one' } };

  it.each([
    ['broken JSON', '{\n  "request": {\n}', /a\.json:3:\d+ error/],
    [
      'a name that is none',
      JSON.stringify({ ...good, reslut: {} }, null, 1),
      /a\.json:8:\d+ error the recording has no field "reslut"/,
    ],
    ['no answer', JSON.stringify({ request: good.request }, null, 1), /a\.json:1:1 error the recording needs "result"/],
    [
      'a file outside of the project',
      JSON.stringify({ ...good, files: { '../x': 'y' } }, null, 1),
      /a\.json:9:\d+ error "\.\.\/x" leads out of the project/,
    ],
  ])(
    '%s is one message with its place, status 2, and stays as it is',
    async (_, text, says) => {
      project = createTestProject({
        'flows/review.yaml': FLOW,
        'flows/review.test.yaml': cases('  - name: a\n'),
        [FILE]: text,
      });
      for (const flags of [[], ['--record']]) {
        const { status, stdout, stderr } = await project.run(['test', ...flags]);
        expect([stderr.match(/ error /g)?.length, status, stdout]).toEqual([1, 2, '']);
        expect(stderr).toMatch(says);
      }
      expect(readFileSync(join(project.root, FILE), 'utf8')).toBe(text);
    },
    60_000,
  );

  it('another answer is simply used; two files for one call are one too many', async () => {
    const flow = 'name: ask\nphases:\n  - { id: ask, task: Say it. }\n';
    const test = 'flow: ./ask.yaml\ncases:\n  - { name: a, expect: { output: { equals: by hand } } }\n';
    project = createTestProject({ 'flows/ask.yaml': flow, 'flows/ask.test.yaml': test });
    const recording = '{ "request": { "task": "Say it." }, "result": { "text": "by hand" } }\n';
    project.write('flows/recordings/ask/any-name.json', recording);
    const { status, stdout } = await project.run(['test']);
    expect([stdout, status]).toEqual([expect.stringContaining('1 passed'), 0]);
    writeFileSync(join(project.root, 'flows/recordings/ask/b.json'), recording);
    const twice = await project.run(['test', '--json']);
    expect(twice.stderr).toContain('flows/recordings/ask/b.json:1:1 error this is the same call as in any-name.json');
    expect([twice.status, JSON.parse(twice.stdout).status]).toEqual([2, 'refused']);
  }, 60_000);
});

it('command lines that mean nothing are refused', async () => {
  project = createTestProject({ 'flows/review.yaml': FLOW, 'flows/review.test.yaml': cases('  - name: two files\n') });
  for (const [args, says] of [
    [['test', '--record', '--update'], '--record and --update contradict each other'],
    [['test', '--runner', 'local'], '--runner is for recording'],
    [['test', 'flows/none.test.yaml'], 'there is no test flows/none.test.yaml'],
    [['test', '-t', 'two filez'], 'did you mean "two files"?'],
  ] as const) {
    const { status, stderr } = await project.run(args);
    expect([stderr, status]).toEqual([expect.stringContaining(says), 2]);
  }
  const none = createTestProject({});
  const { status, stderr } = await none.run(['test']);
  expect([stderr, status]).toEqual([expect.stringContaining('there are no tests in this project'), 2]);
  none.remove();
}, 60_000);
