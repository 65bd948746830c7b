import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';
import { startCli } from '../support/live-cli.js';
import { executions, linesOf } from './support.js';

/** Sends something for each topic; the third is under way for long. */
const FLOW = `name: sends
concurrency: 1
args: { topic: {} }
phases:
  - id: send
    type: script
    idempotent: false
    run: 'echo "$T" >> sent; if [ "$T" = c ] && [ ! -e again ]; then sleep 30; fi; echo "sent $T"'
    env: { T: "{args.topic}" }
`;
const ARGS = ['batch', 'flow.yaml', '--over', 'topics.txt', '--jobs', '1'];

let project: TestProject;
beforeEach(async () => {
  project = createTestProject({ 'flow.yaml': FLOW, 'topics.txt': 'a\nb\nc\nd\n' });
  const batch = startCli(ARGS, { cwd: project.root });
  while (executions(project, 'sent') < 3) await sleep(5);
  batch.kill('SIGKILL');
  await batch.done;
  project.write('again', '');
});
afterEach(() => project?.remove());

describe('a batch that was killed in the middle of a side effect', () => {
  it('does not guess: that row fails with what to type, the others go on', async () => {
    const { status, stdout } = await project.run([...ARGS, '--resume', '--json']);
    expect(status).toBe(4);
    const { rows } = JSON.parse(stdout);
    expect(rows.map((row: { status: string }) => row.status)).toEqual(['success', 'success', 'failed', 'success']);
    expect(rows[2].error).toMatchObject({ code: 'in-doubt', hint: expect.stringContaining('--rerun send') });
    expect(linesOf(project, 'sent')).toEqual(['a', 'b', 'c', 'd']);
  });

  it('is shown with the rows that it has done, not as if these were all', async () => {
    const { stdout } = await project.run(['runs', 'show', 'last']);
    expect(stdout).toMatch(/sends over topics\.txt crashed .*\n2 of 4 rows done, 2 not run\n/);
    await project.run([...ARGS, '--resume']);
    expect((await project.run(['runs', 'show', 'last'])).stdout).toContain('3 of 4 rows done');
  });

  it('--rerun does it again in that row alone', async () => {
    const { status } = await project.run([...ARGS, '--resume', '--rerun', 'send']);
    expect(status).toBe(0);
    expect(linesOf(project, 'sent').sort()).toEqual(['a', 'b', 'c', 'c', 'd']);
  });

  it('a row can be named by its path, and one that there is not is refused', async () => {
    const { rows } = JSON.parse((await project.run([...ARGS, '--resume', '--json'])).stdout);
    const path = /--rerun (rows\/\w+\/send) /.exec(rows[2].error.hint)?.[1];
    const odd = await project.run([...ARGS, '--resume', '--rerun', 'rows/0123456789ab/send']);
    expect(odd).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('no row of topics.txt is rows/0123456789ab'),
    });
    expect((await project.run([...ARGS, '--resume', '--rerun', `${path}x`])).status).toBe(2);
    expect((await project.run([...ARGS, '--resume', '--rerun', path!])).status).toBe(0);
    expect(linesOf(project, 'sent').sort()).toEqual(['a', 'b', 'c', 'c', 'd']);
  });

  it('--skip takes it as done in that row alone, for good', async () => {
    expect((await project.run([...ARGS, '--resume', '--skip', 'send'])).status).toBe(0);
    expect(linesOf(project, 'sent')).toEqual(['a', 'b', 'c', 'd']);
    expect((await project.run([...ARGS, '--resume'])).status).toBe(0);
    expect(linesOf(project, 'sent')).toEqual(['a', 'b', 'c', 'd']);
    expect((await project.run([...ARGS, '--resume', '--skip', 'sned'])).status).toBe(2);
  });
});

describe('rows whose side effect is done, in a batch that did not finish', () => {
  const statuses = (stdout: string) => JSON.parse(stdout).rows.map((row: { status: string }) => row.status);

  it('are not repeated by a batch that starts over, over another list, or by a run with those arguments', async () => {
    const over = await project.run([...ARGS, '--json']);
    // Of the fourth nothing has begun.
    expect([over.status, statuses(over.stdout)]).toEqual([4, ['failed', 'failed', 'failed', 'success']]);
    project.write('others.txt', 'b\ne\n');
    const other = await project.run(['batch', 'flow.yaml', '--over', 'others.txt', '--json']);
    expect([other.status, statuses(other.stdout)]).toEqual([4, ['failed', 'success']]);
    const alone = await project.run(['run', './flow.yaml', 'topic=a', '--json']);
    expect([alone.status, JSON.parse(alone.stdout).error.code]).toEqual([4, 'in-doubt']);
    expect(linesOf(project, 'sent')).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('are done again when a person says so, all of them or one', async () => {
    const { stdout } = await project.run([...ARGS, '--json']);
    const path = /--rerun (rows\/\w+\/send) /.exec(JSON.parse(stdout).rows[0].error.hint)?.[1];
    const one = await project.run([...ARGS, '--rerun', path!, '--json']);
    expect(statuses(one.stdout)).toEqual(['success', 'failed', 'failed', 'failed']);
    expect((await project.run([...ARGS, '--rerun', 'send'])).status).toBe(0);
    expect(linesOf(project, 'sent').sort()).toEqual(['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd', 'd']);
  });

  it('are forgotten once a batch has ended well: the next one is a new one', async () => {
    expect((await project.run([...ARGS, '--resume', '--skip', 'send'])).status).toBe(0);
    expect((await project.run(ARGS)).status).toBe(0);
    expect(linesOf(project, 'sent').sort()).toEqual(['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd']);
  });
});

it('--rerun of a phase that all rows share executes it once more, not once for each row', async () => {
  const flow = `name: shared
args: { topic: {} }
phases:
  - { id: setup, type: script, run: 'echo x >> setup.count; sleep 0.1; cat setup.count | wc -l' }
  - { id: work, type: script, run: [echo, "{args.topic} {steps.setup.output}"] }
`;
  project.write('flow.yaml', flow);
  await project.run(ARGS);
  expect(executions(project, 'setup.count')).toBe(1);
  const again = await project.run([...ARGS.slice(0, -2), '--jobs', '4', '--resume', '--rerun', 'setup', '--json']);
  expect(executions(project, 'setup.count')).toBe(2);
  expect(JSON.parse(again.stdout).rows.map((row: { output: string }) => row.output)).toEqual([
    'a 2',
    'b 2',
    'c 2',
    'd 2',
  ]);
});
