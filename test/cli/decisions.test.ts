import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
let runId: string;
const as = (name: string) => ({ env: { USER: name } });
const phases = [
  { id: 'a', type: 'script', run: ['echo', 'it'] },
  { id: 'ask', type: 'approval', task: 'Ship {steps.a.output}?' },
  { id: 'b', type: 'script', run: ['echo', 'after {steps.ask.output}'] },
];

beforeEach(async () => {
  project = createTestProject({ 'flow.json': JSON.stringify({ name: 'demo', phases }) });
  const { status, stdout } = await project.run(['run', './flow.json', '--json']);
  expect(status).toBe(4);
  runId = JSON.parse(stdout).runId;
});
afterEach(() => project.remove());

it('a run that was decided about says by whom and how to go on, not that it waits', async () => {
  expect((await project.run(['runs', 'show', 'last'])).stdout).toContain(`taskflow approve ${runId} ask`);
  await project.run(['approve', 'last', 'ask', '--note', 'with care'], as('kim'));
  const { stdout } = await project.run(['runs', 'show', 'last']);
  expect(stdout).toMatch(/‖ ask +approved by kim .* ago: with care/);
  expect(stdout).toContain(`taskflow resume ${runId}    goes on with it`);
  expect(stdout).not.toMatch(/waits for|taskflow approve/);
  expect((await project.run(['runs'])).stdout).toContain('paused (decided)');
  expect((await project.run(['doctor'])).stdout).toContain(`taskflow resume ${runId} goes on with it`);
  const traced = (await project.run(['trace', 'last', 'ask'])).stdout;
  expect(traced).toMatch(/approved by kim .* ago: with care/);
  expect(traced).not.toContain('waiting for approval');
  const json = JSON.parse((await project.run(['runs', 'show', 'last', '--json'])).stdout);
  expect(json.waiting).toMatchObject([
    { phase: 'ask', decided: { decision: 'approve', by: 'kim', note: 'with care' } },
  ]);
});

it('another decision replaces the first one and says so; the same one again changes nothing', async () => {
  await project.run(['approve', 'last', 'ask'], as('kim'));
  const again = await project.run(['approve', 'last', 'ask'], as('lee'));
  expect(again).toMatchObject({ status: 0, stdout: 'already approved: Ship it?\n' });
  expect(again.stderr).toMatch(/^approved by kim .* ago; nothing has changed/);
  const other = await project.run(['reject', 'last', 'ask', '--note', 'no'], as('lee'));
  expect(other).toMatchObject({ status: 0, stdout: 'rejected: Ship it?\n' });
  expect(other.stderr).toMatch(/this replaces what was decided before: approved by kim .* ago/);
  const back = JSON.parse((await project.run(['approve', 'last', 'ask', '--json'], as('kim'))).stdout);
  expect(back).toMatchObject({ runId, phase: 'ask', decision: 'approve', by: 'kim', note: null });
  expect(back.replaces).toMatchObject({ decision: 'reject', by: 'lee', note: 'no' });
  expect((await project.run(['resume', 'last'])).stdout).toBe('after approved\n');
});

it('once the run has gone on, everything that shows it says as what', async () => {
  await project.run(['approve', 'last', 'ask']);
  const heir = JSON.parse((await project.run(['resume', 'last', '--json'])).stdout).runId;
  const { status, stderr } = await project.run(['reject', runId, 'ask']);
  expect(status).toBe(2);
  expect(stderr).toContain(`It went on as run ${heir}`);
  expect((await project.run(['runs', 'show', runId])).stdout).toContain(`it went on as run ${heir}`);
  expect((await project.run(['runs'])).stdout).toContain('paused (went on)');
  expect((await project.run(['doctor'])).stdout).not.toContain('waits for an approval');
});

it('rows of a batch are decided and traced by their number or label, and last is the run that asks', async () => {
  const topics = [
    { id: 'ask', type: 'approval', task: 'Ship {args.topic}?' },
    { id: 'b', type: 'script', run: ['test', '{args.topic}', '!=', 'beta two'] },
  ];
  project.write('topics.json', JSON.stringify({ name: 'topics', args: { topic: {} }, phases: topics }));
  project.write('topics.txt', 'alpha\nbeta two\n');
  const batch = ['batch', './topics.json', '--over', 'topics.txt'];
  const { status, stderr } = await project.run(batch);
  expect(status).toBe(1);
  expect(stderr).toContain('‖ beta two: ask asks: Ship beta two?');
  expect(stderr).toContain('shows what waits');
  expect((await project.run(['runs', 'show', 'last'])).stdout).toMatch(/taskflow approve \S+ 2\/ask/);
  const approved = await project.run(['approve', 'last', '2/ask']);
  expect(approved.stdout).toBe('approved: Ship beta two?\n');
  expect(approved.stderr).toContain('next: taskflow batch ./topics.json --over topics.txt --resume');
  const traced = (await project.run(['trace', 'last'])).stdout;
  expect(traced).toMatch(/\nrow 1: alpha .*\nrow 2: beta two /s);
  for (const typed of ['2', '2/b', 'beta two', 'beta two/b', 'b']) {
    const { stdout } = await project.run(['trace', 'last', typed]);
    expect(stdout).toMatch(/row 2: beta two .*\nb {2}\+/s);
    expect(stdout.includes('row 1')).toBe(typed === 'b');
    expect(stdout.includes('asked:')).toBe(!typed.endsWith('b'));
  }
  const json = JSON.parse((await project.run(['trace', 'last', '2', '--json'])).stdout);
  expect(json.phases[0]).toMatchObject({ row: 2, label: 'beta two', phase: expect.stringMatching(/^rows\//) });
  expect((await project.run(['trace', 'last', '7'])).status).toBe(2);
});
