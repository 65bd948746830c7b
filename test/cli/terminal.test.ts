import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readApproval } from '../../src/cli/run/ask-approval.js';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';
import { hasScript, runOnTerminal, type Typing } from '../support/on-terminal.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
});
afterEach(() => project.remove());

const onTerminal = (args: readonly string[], options: Typing = {}) =>
  runOnTerminal(args, { cwd: project.root, ...options });

const flow = (...phases: object[]) => JSON.stringify({ name: 'demo', phases });

describe.skipIf(!hasScript)('on a terminal', () => {
  it('a run is drawn in place with colours, and leaves a final picture and a summary', async () => {
    project.write(
      'flow.json',
      flow(
        { id: 'slow', type: 'script', run: ['sleep', '0.6'] },
        { id: 'last', type: 'script', run: ['echo', 'the result'] },
      ),
    );
    const { status, screen } = await onTerminal(['run', './flow.json']);
    expect(status).toBe(0);
    expect(screen).toMatch(/\x1b\[\d+A/);
    expect(screen).toContain('\x1b[32m✔');
    const end = screen.slice(screen.lastIndexOf('\x1b[J'));
    expect(end).not.toMatch(/\x1b\[\d+A/);
    expect(end).toMatch(/slow.*\r\n.*last.*\r\n\r\n.*succeeded/s);
    expect(end.trimEnd().endsWith('the result')).toBe(true);
  });

  it('a run in CI, or with NO_COLOR, is drawn as these ask', async () => {
    project.write('flow.json', flow({ id: 'slow', type: 'script', run: ['sleep', '0.3'] }));
    expect((await onTerminal(['run', './flow.json'], { env: { CI: 'true' } })).screen).not.toContain('\x1b[');
    const plain = (await onTerminal(['run', './flow.json'], { env: { NO_COLOR: '1' } })).screen;
    expect(plain).toMatch(/\x1b\[\d+A/);
    expect(plain).not.toContain('\x1b[32m');
  });

  const approval = () =>
    flow(
      { id: 'sure', type: 'approval', task: 'Really do it?' },
      { id: 'act', type: 'script', run: ['echo', 'acted: {steps.sure.output}'], dependsOn: ['sure'] },
    );

  it.each([
    ['y', 0, /acted: /],
    ['y only half of it', 0, /acted: only half of it/],
    ['n too early', 1, /too early/],
  ])('an approval is asked there: %s', async (type, status, shown) => {
    project.write('flow.json', approval());
    const run = await onTerminal(['run', './flow.json'], { when: 'n REASON): ', type: `${type}\n` });
    expect(run.screen).toContain('Really do it?');
    expect(run.screen).toMatch(shown);
    if (status === 0) expect(run.status).toBe(0);
    else expect([1, 3]).toContain(run.status);
  });

  it.each([
    ['Ctrl-D', '\x04', [], 4],
    ['Ctrl-C', '\x03', [], 130],
    ['Ctrl-C', '\x03', ['-q'], 130],
  ])('an approval that is left open with %s leaves a line of its own: %j %j', async (_, type, flags, status) => {
    project.write('flow.json', approval());
    const run = await onTerminal(['run', './flow.json', ...flags], { when: 'n REASON): ', type });
    expect(run.status).toBe(status);
    expect(run.screen).toMatch(/n REASON\): (\^[CD]\x08*)*\r\n/);
  });

  it.each([
    ['r', 0, 2],
    ['k', 0, 1],
    ['s', 4, 1],
    ['maybe\nk', 0, 1],
    ['\x04', 4, 1],
  ])('a side effect that is done and would be another one is shown and asked about: %j', async (type, status, sent) => {
    const send = (text: string) =>
      flow(
        { id: 'send', type: 'script', run: ['sh', '-c', 'echo x >> SENT', text], idempotent: false },
        { id: 'end', type: 'script', run: 'test -e ok', dependsOn: ['send'] },
      ).replace('SENT', join(project.root, 'sent'));
    project.write('flow.json', send('first letter'));
    expect((await onTerminal(['run', './flow.json'])).status).toBe(1);
    project.write('ok', '');
    project.write('flow.json', send('second letter'));
    const run = await onTerminal(['run', './flow.json'], { when: 'stop here (s)', type: `${type}\n` });
    expect(run.screen).toMatch(/it was done with[\s\S]*first letter[\s\S]*would now be done with[\s\S]*second letter/);
    expect([run.status, readFileSync(join(project.root, 'sent'), 'utf8').length / 2]).toEqual([status, sent]);
  });

  it('nobody is asked in CI, nor when a program reads the result', async () => {
    project.write('flow.json', approval());
    expect((await onTerminal(['run', './flow.json', '--fresh'], { env: { CI: '1' } })).status).toBe(4);
    expect((await onTerminal(['run', './flow.json', '--fresh', '--json'])).status).toBe(4);
  });
});

describe('an answer to an approval', () => {
  it.each([
    ['y', { decision: 'approve' }],
    ['YES', { decision: 'approve' }],
    ['yes: after lunch', { decision: 'approve', note: 'after lunch' }],
    ['y, only the first', { decision: 'approve', note: 'only the first' }],
    ['n', { decision: 'reject' }],
    ['no: not on a Friday', { decision: 'reject', note: 'not on a Friday' }],
    ['N not now', { decision: 'reject', note: 'not now' }],
  ])('%j', (line, answer) => expect(readApproval(line)).toEqual(answer));

  const doubtful = ['', '  ', 'stop', 'nope', 'abort', 'wait', 'q', 'quit', 'ok', 'approve', 'yep', 'now or never'];
  it.each([
    ...doubtful,
    'not yet',
    'yes?',
    'y/n',
    'yn',
    'yes or no?',
    'y no',
    'yes, wait',
    'y nope',
    'y abort',
    'yes, cancel',
    "y don't",
    'yes but not now',
    'n\x08y',
    'yes \x08\x08\x08\x08no',
    'y \x1b[2Kn',
    '\x1b[Ay',
  ])('that is neither yes nor no is none: %j', (line) => expect(readApproval(line)).toBeUndefined());
});

describe('trouble', () => {
  it('a bug of ours is one readable line, how to report it, and status 70; the stack only when asked', async () => {
    project.write(
      'break.cjs',
      `const fs = require('node:fs'); const real = fs.realpathSync; ` +
        `fs.realpathSync = Object.assign(function (path) { if (String(path).includes('taskflow-test')) throw new ` +
        `Error('boom'); return real.apply(this, arguments); }, real);`,
    );
    const env = { NODE_OPTIONS: `--require ${join(project.root, 'break.cjs')}` };
    const quiet = await project.run(['config', 'list'], { env });
    expect(quiet).toMatchObject({ status: 70, stdout: '' });
    expect(quiet.stderr).toMatch(/^taskflow: internal error: boom\n.*TASKFLOW_DEBUG=1.*\n.*please report/);
    const loud = await project.run(['config', 'list'], { env: { ...env, TASKFLOW_DEBUG: '1' } });
    expect(loud.stderr).toContain('break.cjs');
    const read = await project.run(['config', 'list', '--json'], { env });
    expect(read.status).toBe(70);
    expect(JSON.parse(read.stdout)).toMatchObject({ status: 'failed', error: { code: 'internal', message: 'boom' } });
    const events = await project.run(['run', './flow.yaml', '--events'], { env });
    expect(JSON.parse(events.stdout)).toMatchObject({ type: 'broken', error: { code: 'internal', message: 'boom' } });
  });

  it('a current folder that was removed is said, not a bug', async () => {
    const line = `mkdir gone && cd gone && rmdir ../gone && exec "${process.execPath}" "${CLI}" config list`;
    const child = spawnSync('sh', ['-c', line], {
      cwd: project.root,
      env: cliEnvironment(project.root) as NodeJS.ProcessEnv,
      encoding: 'utf8',
    });
    expect(child.status).toBe(2);
    expect(child.stderr).toContain('the current folder no longer exists');
  });
});
