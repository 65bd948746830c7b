import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';
import { type LiveCli, linesOf, startCli } from '../support/live-cli.js';
import { livingIn } from '../support/living.js';
import { hasScript, runOnTerminal } from '../support/on-terminal.js';
import { until } from '../support/processes.js';

const LONG = 20_000;
/** Longer than the edits of one save are gathered, and than an event takes. */
const QUIET_MS = 700;

const hasStrace = spawnSync('strace', ['--version']).status === 0;

let project: TestProject;
let live: LiveCli | undefined;
beforeEach(() => {
  project = createTestProject({ 'src/a.ts': '1\n' });
});
afterEach(async () => {
  live?.kill('SIGKILL');
  await live?.done;
  live = undefined;
  project.remove();
  rmSync(log(), { force: true });
});

/** Beside what is watched: every execution writes its line. */
const log = () => `${project.root}.log`;
const ran = (name: string) => linesOf(log()).filter((line) => line === name).length;
const times = (text: string) => live!.stderr().split(text).length - 1;
const script = (id: string, command = 'true', more: object = {}) => ({
  id,
  type: 'script',
  run: `echo ${id} >> ${log()}; ${command}`,
  ...more,
});
const reads = (...fingerprint: string[]) => ({ cache: { scope: 'cross-run', fingerprint } });
const writeFlow = (...phases: object[]) => project.write('flow.json', JSON.stringify({ name: 'w', phases }));

async function watch(...flags: string[]): Promise<void> {
  live = startCli(['run', './flow.json', '--watch', ...flags], { cwd: project.root });
  await waiting(1);
}
/** It has waited for changes so many times. */
const waiting = (count: number) => until(() => times('watching for changes') >= count, LONG);
/** Nothing more is executed by itself. */
async function staysAt(name: string, count: number): Promise<void> {
  await sleep(QUIET_MS);
  expect(ran(name)).toBe(count);
}
async function end(signal: NodeJS.Signals = 'SIGINT') {
  live!.kill(signal);
  const result = await live!.done;
  expect(livingIn(project.root)).toEqual([]);
  return result;
}

describe('an edit', () => {
  it('runs the flow again, and says what changed', async () => {
    writeFlow(script('read', 'cat src/a.ts', reads('glob:src/**')));
    await watch();
    expect(ran('read')).toBe(1);
    project.write('src/a.ts', '2\n');
    await waiting(2);
    expect(ran('read')).toBe(2);
    expect(live!.stderr()).toContain('changed: src/a.ts: running again\n');
    expect(live!.stdout()).toBe('1\n2\n');
    await staysAt('read', 2);
    expect((await end()).status).toBe(130);
  });

  it.skipIf(!hasStrace)('of a file that only an earlier run was seen to read counts too', async () => {
    writeFlow(script('a', 'cat src/a.ts', reads()));
    expect((await project.run(['run', './flow.json'])).status).toBe(0);
    await watch();
    expect(ran('a')).toBe(1);
    project.write('src/a.ts', '2\n');
    await waiting(2);
    expect(ran('a')).toBe(2);
  });

  it('of many files at once is one run', async () => {
    writeFlow(script('read', 'cat src/*', reads('glob:src/**')));
    await watch();
    for (const name of ['x', 'y', 'z']) project.write(`src/${name}.ts`, name);
    await waiting(2);
    expect(live!.stderr()).toContain('changed: src/x.ts (and 2 more): running again\n');
    await staysAt('read', 2);
  });

  it('of a file that nobody looks at, or a touch, runs nothing', async () => {
    writeFlow(script('read', 'cat src/a.ts', reads('file:src/a.ts')));
    await watch();
    project.write('src/other.ts', 'x');
    project.write('src/a.ts', '1\n');
    await staysAt('read', 1);
    expect(times('running again')).toBe(0);
  });

  it.each([
    ['a context file', '{"task":"x","context":["notes/*.md"]}', 'notes/new.md'],
    ['an agent file', '{"task":"x","agent":"mine"}', '.pi/agents/mine.md'],
    ['the settings', '{"task":"x"}', '.pi/taskflows/config.yaml'],
    ['the program of a script', '{"type":"script","run":["bin/tool"]}', 'bin/tool'],
    ['a flow that is used', '{"type":"flow","use":"./inner.json"}', 'inner.json'],
    [
      'a file that only the run knows',
      '{"type":"map","over":["src/a.ts"],"task":"x","context":["{item}"]}',
      'src/a.ts',
    ],
  ])('of %s runs it again', async (_, phase, edited) => {
    const agent = '#!/bin/sh\ncat\n';
    project.write('bin/agent', agent, 0o755);
    project.write('bin/tool', '#!/bin/sh\necho one\n', 0o755);
    project.write('notes/a.md', 'note');
    project.write('.pi/agents/mine.md', '---\nname: mine\n---\nShort.\n');
    const runner = 'runner: own\nrunners:\n  own: { command: [bin/agent], format: text }\n';
    project.write('.pi/taskflows/config.yaml', runner);
    project.write('inner.json', JSON.stringify({ name: 'inner', phases: [script('in')] }));
    writeFlow({ id: 'p', ...JSON.parse(phase) });
    await watch();
    const text = edited.endsWith('.yaml')
      ? `# new\n${runner}`
      : edited.endsWith('.json')
        ? JSON.stringify({ name: 'inner', phases: [script('on')] })
        : `${readIfThere(edited)}\n# new\n`;
    writeFileSync(join(project.root, edited), text);
    await waiting(2);
    expect(live!.stderr()).toContain(`changed: ${edited}: running again`);
  });

  it.runIf(hasStrace)('of a file that a script was seen to read runs it again, also after it was reused', async () => {
    project.write('lib/b.ts', '1');
    writeFlow(
      script('read', 'cat lib/b.ts', reads('file:src/a.ts')),
      script('other', 'cat src/c.ts', reads('file:src/c.ts')),
    );
    project.write('src/c.ts', '1');
    await watch();
    project.write('src/c.ts', '2');
    await waiting(2);
    expect(ran('read')).toBe(1);
    project.write('lib/b.ts', '2');
    await waiting(3);
    expect(live!.stderr()).toContain('changed: lib/b.ts: running again');
  });

  it('that removes a watched folder and makes it again is seen', async () => {
    writeFlow(script('read', 'ls src 2>/dev/null', reads('glob:src/**')));
    await watch();
    rmSync(join(project.root, 'src'), { recursive: true });
    await waiting(2);
    project.write('src/b.ts', 'new');
    await waiting(3);
    expect(ran('read')).toBe(3);
    project.write('src/b.ts', 'newer');
    await waiting(4);
    expect(ran('read')).toBe(4);
  });

  it('of the tree that git knows counts, of what it ignores does not', async () => {
    const git = (...args: string[]) => spawnSync('git', args, { cwd: project.root });
    git('init', '-q');
    project.write('.gitignore', 'ignored/\n.home/\n');
    writeFlow(script('read', 'true', reads('git:worktree')));
    git('add', '.');
    git('-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'x');
    await watch();
    project.write('ignored/x', 'x');
    await staysAt('read', 1);
    expect(times('running again')).toBe(0);
    project.write('lib/new.ts', 'x');
    await waiting(2);
    expect(ran('read')).toBe(2);
    git('add', '.');
    git('-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'y');
    await waiting(3);
    expect(ran('read')).toBe(3);
  });
});

const readIfThere = (path: string) => linesOf(join(project.root, path)).join('\n');

describe('an edit while a run is under way', () => {
  const slow = () => writeFlow(script('slow', `sleep 1; cat src/a.ts; echo end >> ${log()}`, reads('file:src/a.ts')));

  it('lets the run finish, and runs again', async () => {
    slow();
    live = startCli(['run', './flow.json', '--watch'], { cwd: project.root });
    await until(() => ran('slow') === 1, LONG);
    project.write('src/a.ts', '2\n');
    await waiting(1);
    expect([ran('slow'), ran('end')]).toEqual([2, 2]);
    expect(live!.stderr()).toContain('changed: src/a.ts: running again');
    await staysAt('slow', 2);
  });

  it('with restart ends the run and starts again', async () => {
    slow();
    live = startCli(['run', './flow.json', '--watch=restart'], { cwd: project.root });
    await until(() => ran('slow') === 1, LONG);
    project.write('src/a.ts', '2\n');
    await waiting(1);
    expect([ran('slow'), ran('end')]).toEqual([2, 1]);
    expect(live!.stderr()).toContain('changed: src/a.ts: starting again');
    expect(live!.stdout()).toBe('2\n');
    await staysAt('slow', 2);
  });
});

describe('what the run itself writes', () => {
  it('is no change: outputs, journals, entries', async () => {
    const make = script('make', 'date +%N > out.txt', { outputs: ['out.txt'] });
    writeFlow(make, script('use', 'cat out.txt', { dependsOn: ['make'], ...reads('glob:**') }));
    await watch();
    await staysAt('make', 1);
    project.write('src/a.ts', '2\n');
    await waiting(2);
    await staysAt('make', 2);
    expect(times('running again')).toBe(1);
  });

  it.each(['', '=restart'])('without saying so ends after a few runs (--watch%s)', async (how) => {
    const cache = { scope: 'cross-run', fingerprint: ['glob:src/**'], observe: 'off' };
    writeFlow(script('read', 'date +%N > src/stamp; sleep 0.4', { cache }));
    live = startCli(['run', './flow.json', `--watch${how}`], { cwd: project.root });
    await waiting(1);
    const count = ran('read');
    expect(count).toBeLessThanOrEqual(8);
    expect(live!.stderr()).toContain('src/stamp changed in every run');
    expect(live!.stderr()).toContain('name it in outputs');
    await staysAt('read', count);
  });

  it.runIf(hasStrace)('without saying so is no change where it was seen', async () => {
    writeFlow(script('read', 'date +%N > src/stamp; sleep 0.4', reads('glob:src/**')));
    await watch();
    await staysAt('read', 1);
  });

  it.runIf(hasStrace)('and was seen before does not end a run again', async () => {
    writeFlow(script('read', 'date +%N > src/stamp; sleep 0.4', reads('glob:src/**')));
    live = startCli(['run', './flow.json', '--watch=restart'], { cwd: project.root });
    await waiting(1);
    expect(ran('read')).toBe(2);
    expect(live.stderr()).toContain('✔ w succeeded');
    await staysAt('read', 2);
  });

  it('is no change where its output goes to a file that is watched', async () => {
    writeFlow(script('read', 'date', reads('glob:src/**')));
    const line = `exec "$0" "$1" run ./flow.json --watch > src/out.log 2>&1`;
    const { CLI, cliEnvironment } = await import('../support/cli.js');
    const { spawn } = await import('node:child_process');
    const env = cliEnvironment(project.root) as NodeJS.ProcessEnv;
    const child = spawn('sh', ['-c', line, process.execPath, CLI], { cwd: project.root, env, stdio: 'ignore' });
    const said = () => readFileSync(join(project.root, 'src/out.log'), 'utf8');
    await until(() => ran('read') === 1 && said().includes('watching for changes'), LONG);
    await staysAt('read', 1);
    child.kill('SIGINT');
    await new Promise((resolve) => child.on('close', resolve));
  });
});

describe('a side effect', () => {
  it('is never fired again because of a watch', async () => {
    const deploy = script('deploy', 'true', { idempotent: false });
    writeFlow(script('read', 'cat src/a.ts', reads('file:src/a.ts')), deploy);
    await watch();
    expect([ran('read'), ran('deploy')]).toEqual([1, 1]);
    project.write('src/a.ts', '2\n');
    await waiting(2);
    expect([ran('read'), ran('deploy')]).toEqual([2, 1]);
    writeFlow(script('read', 'cat src/a.ts; true', reads('file:src/a.ts')), deploy);
    await waiting(3);
    expect([ran('read'), ran('deploy')]).toEqual([3, 1]);
  });
});

describe('the flow', () => {
  it('with a syntax error is shown with its place, and watched on', async () => {
    writeFlow(script('read'));
    await watch();
    project.write('flow.json', '{ "name": "w", "phases": [ }');
    await waiting(2);
    expect(live!.stderr()).toMatch(/flow\.json:1:\d+ error/);
    expect(live!.stderr()).toContain('^');
    writeFlow(script('read', 'echo mended'));
    await waiting(3);
    expect(live!.stdout()).toBe('mended\n');
    expect((await end()).status).toBe(130);
  });

  it('with a syntax error from the start is watched too', async () => {
    project.write('flow.json', '{');
    await watch();
    writeFlow(script('read', 'echo mended'));
    await waiting(2);
    expect(live!.stdout()).toBe('mended\n');
  });

  it('may be replaced as editors do, and removed and written again', async () => {
    writeFlow(script('read'));
    await watch();
    project.write('flow.json.tmp~', JSON.stringify({ name: 'w', phases: [script('read', 'echo 2')] }));
    renameSync(join(project.root, 'flow.json.tmp~'), join(project.root, 'flow.json'));
    await waiting(2);
    expect(live!.stdout()).toBe('2\n');
    rmSync(join(project.root, 'flow.json'));
    await waiting(3);
    expect(live!.stderr()).toContain('there is no flow file');
    writeFlow(script('read', 'echo 3'));
    await waiting(4);
    expect(live!.stdout()).toBe('2\n3\n');
    writeFlow(script('read', 'echo 4'));
    await waiting(5);
    expect(live!.stdout()).toBe('2\n3\n4\n');
  });

  it('that waits for an approval is paused and watched on', async () => {
    writeFlow(script('read', 'cat src/a.ts', reads('file:src/a.ts')), {
      id: 'sure',
      type: 'approval',
      task: 'Sure?',
      dependsOn: ['read'],
    });
    await watch();
    expect(live!.stderr()).toContain('taskflow approve');
    project.write('src/a.ts', '2\n');
    await waiting(2);
    expect(ran('read')).toBe(2);
  });
});

describe('Ctrl-C', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('between runs: %s', async (signal) => {
    writeFlow(script('read'));
    await watch();
    expect((await end(signal)).status).toBe(130);
  });

  it('during a run ends everything, and the next run continues it', async () => {
    writeFlow(script('first'), script('slow', 'sleep 30', { dependsOn: ['first'] }));
    live = startCli(['run', './flow.json', '--watch'], { cwd: project.root });
    await until(() => ran('slow') === 1, LONG);
    expect((await end()).status).toBe(130);
    const [run] = readdirSync(join(project.root, '.pi/taskflows/runs')).filter((name) => /^\d/.test(name));
    expect(readFileSync(join(project.root, '.pi/taskflows/runs', run!, 'journal.jsonl'), 'utf8')).toContain(
      '"status":"interrupted"',
    );
  });
});

describe('with other flags', () => {
  it.each([
    [['--detach'], '--watch and --detach contradict each other'],
    [['--args-file', '-'], '--args-file - can be read only once'],
  ])('%s is refused', async (flags, message) => {
    writeFlow(script('read'));
    const { status, stderr } = await project.run(['run', './flow.json', '--watch', ...flags]);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(ran('read')).toBe(0);
  });

  it('a flow that is not there, or an argument that it does not have, ends it at once', async () => {
    writeFlow(script('read'));
    expect((await project.run(['run', './nothing.json', '--watch'])).status).toBe(2);
    expect((await project.run(['run', './flow.json', 'no=1', '--watch'])).status).toBe(2);
    expect((await project.run(['run', './flow.json', '--watch=often'])).status).toBe(2);
  });

  it('--json prints one result for each run', async () => {
    writeFlow(script('read', 'cat src/a.ts', reads('file:src/a.ts')));
    await watch('--json');
    project.write('src/a.ts', '2\n');
    await waiting(2);
    const results = live!
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(results.map(({ status, output }) => [status, output])).toEqual([
      ['success', '1'],
      ['success', '2'],
    ]);
  });

  it('--dry-run forecasts again and executes nothing', async () => {
    writeFlow(script('read', 'cat src/a.ts', reads('file:src/a.ts')));
    await watch('--dry-run');
    project.write('src/a.ts', '2\n');
    await waiting(2);
    expect(ran('read')).toBe(0);
  });
});

it.runIf(hasScript)('a terminal shows the last run and what triggered it, and Ctrl-C ends it', async () => {
  writeFlow(script('read', 'cat src/a.ts', reads('file:src/a.ts')));
  const done = runOnTerminal(['run', './flow.json', '--watch'], {
    cwd: project.root,
    when: 'running again',
    type: '\u0003',
  });
  await until(() => ran('read') === 1, LONG);
  await sleep(QUIET_MS);
  project.write('src/a.ts', '2\n');
  const { status, screen } = await done;
  expect(status).toBe(130);
  expect(screen).toContain('\u001b[2J\u001b[Hchanged: src/a.ts: running again');
});
