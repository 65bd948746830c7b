import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';
import { startCli } from '../support/live-cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
});
afterEach(async () => {
  await project.run(['runs', 'cancel', 'last']);
  project.remove();
});

/** Each phase leaves a line when it begins, and goes on when it is let. */
const WAIT = 'until [ -e go ]; do sleep 0.05; done; echo done';
const flow = (...phases: object[]) => JSON.stringify({ name: 'demo', phases });
const waiting = { id: 'a', type: 'script', run: `echo a >> begun; ${WAIT}` };
const begun = () => (existsSync(join(project.root, 'begun')) ? readFileSync(join(project.root, 'begun'), 'utf8') : '');

async function detached(...args: string[]): Promise<string> {
  const { stdout, stderr, status } = await project.run([...args, '--detach']);
  expect([stderr, status]).toEqual([expect.any(String), 0]);
  return stdout.trim();
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !condition(); i += 1) await new Promise((resolve) => setTimeout(resolve, 25));
  expect(condition()).toBe(true);
}

describe('a detached run', () => {
  it('goes on while nobody waits; wait gives its status, logs what it said', async () => {
    project.write('flow.json', flow(waiting, { id: 'b', type: 'script', run: 'exit 3', dependsOn: ['a'] }));
    const runId = await detached('run', './flow.json');
    expect(runId).toMatch(/^\d{8}-\d{6}-[0-9a-z]{6}$/);
    expect((await project.run(['runs', 'wait', runId, '--timeout', '300ms'])).status).toBe(124);
    const logs = startCli(['runs', 'logs', runId, '-f'], { cwd: project.root });
    const wait = startCli(['runs', 'wait', runId], { cwd: project.root });
    await until(() => logs.stdout().includes('a started'));
    project.write('go', '');
    expect((await wait.done).status).toBe(1);
    expect((await logs.done).stdout).toContain('✖ b failed');
    expect((await project.run(['runs', 'attach', runId])).status).toBe(1);
    expect(begun()).toBe('a\n');
  });

  it('begins also when its flow stands behind `--`', async () => {
    project.write('flow.json', flow({ id: 'a', type: 'script', run: 'echo a >> begun' }));
    const { stdout, status } = await project.run(['run', '--detach', '--', './flow.json']);
    expect(status).toBe(0);
    expect((await project.run(['runs', 'wait', stdout.trim()])).status).toBe(0);
    expect(begun()).toBe('a\n');
  });

  it('survives the shell that started it, and its terminal', async () => {
    project.write('flow.json', flow(waiting));
    const shell = spawn('sh', ['-c', `"$0" "$1" run ./flow.json --detach > id; sleep 60`, process.execPath, CLI], {
      cwd: project.root,
      env: cliEnvironment(project.root) as NodeJS.ProcessEnv,
      detached: true,
      stdio: 'ignore',
    });
    await until(() => existsSync(join(project.root, 'id')) && begun() !== '');
    // What a terminal that is closed does: the whole session hears it, then nothing of it is left.
    process.kill(-shell.pid!, 'SIGHUP');
    process.kill(-shell.pid!, 'SIGKILL');
    project.write('go', '');
    const { status } = await project.run(['runs', 'wait', 'last', '--timeout', '20s']);
    expect(status).toBe(0);
  });

  it('is not harmed when the one who waits is killed', async () => {
    project.write('flow.json', flow(waiting));
    const runId = await detached('run', './flow.json');
    const wait = startCli(['runs', 'wait', runId], { cwd: project.root });
    await new Promise((resolve) => setTimeout(resolve, 300));
    wait.kill('SIGKILL');
    project.write('go', '');
    expect((await project.run(['runs', 'wait', runId])).status).toBe(0);
  });

  it('is cancelled as Ctrl-C does it: no process is left, and resume goes on', async () => {
    project.write(
      'flow.json',
      flow({ id: 'first', type: 'script', run: 'echo 1 >> first' }, { ...waiting, dependsOn: ['first'] }),
    );
    const runId = await detached('run', './flow.json');
    await until(() => begun() !== '');
    expect((await project.run(['runs', 'cancel', runId])).stderr).toContain('was ended');
    expect((await project.run(['runs', 'wait', runId])).status).toBe(130);
    expect((await project.run(['runs', 'cancel', runId])).stderr).toContain('not under way: interrupted');
    project.write('go', '');
    expect((await project.run(['resume', runId])).status).toBe(0);
    expect(readFileSync(join(project.root, 'first'), 'utf8')).toBe('1\n');
  });

  it('that is cut off with kill -9 is said to be executed by nobody, and does not hold up who waits', async () => {
    project.write('flow.json', flow(waiting));
    const runId = await detached('run', './flow.json');
    const wait = startCli(['runs', 'wait', runId], { cwd: project.root });
    const line = readFileSync(join(project.root, '.pi/taskflows/runs', runId, 'journal.jsonl'), 'utf8').split('\n')[0]!;
    process.kill(JSON.parse(line).owner.pid, 'SIGKILL');
    const { status, stderr } = await wait.done;
    expect([status, stderr]).toEqual([1, expect.stringContaining('its process died')]);
    project.write('go', '');
  });

  it('that cannot begin says why, with the status of the command, and leaves nothing behind', async () => {
    project.write('flow.json', '{"phases": [{"id": "a", "tsk": "x"}]}');
    const { status, stderr } = await project.run(['run', './flow.json', '--detach']);
    expect([status, stderr]).toEqual([2, expect.stringContaining('did you mean "task"?')]);
    const runs = join(project.root, '.pi/taskflows/runs');
    expect(readdirSync(runs).filter((name) => /^\d/.test(name))).toEqual([]);
  });

  it('that waits for an approval uses no process, and goes on by itself once it is approved', async () => {
    project.write('flow.json', flow({ id: 'ask', type: 'approval', task: 'Go?' }, { ...waiting, dependsOn: ['ask'] }));
    project.write('go', '');
    const runId = await detached('run', './flow.json');
    expect((await project.run(['runs', 'wait', runId])).status).toBe(4);
    expect(begun()).toBe('');
    const { stderr } = await project.run(['approve', runId, 'ask']);
    const next = /goes on by itself as run (\S+)/.exec(stderr)![1]!;
    expect((await project.run(['runs', 'wait', next])).status).toBe(0);
    expect(begun()).toBe('a\n');
  });

  it('a batch too', async () => {
    project.write('flow.json', JSON.stringify({ name: 'rows', args: { n: {} }, phases: [waiting] }));
    project.write('rows.txt', 'one\ntwo\n');
    const runId = await detached('batch', './flow.json', '--over', 'rows.txt', '--as', 'n');
    project.write('go', '');
    expect((await project.run(['runs', 'wait', runId])).status).toBe(0);
    const { stdout } = await project.run(['runs', 'logs', runId, '--events']);
    expect(stdout.split('\n').filter((line) => line.includes('"row-end"'))).toHaveLength(2);
  });

  it('whose project disappears ends, and so does who waits for it', async () => {
    project.write('flow.json', flow(waiting));
    const runId = await detached('run', './flow.json');
    await until(() => begun() !== '');
    const wait = startCli(['runs', 'wait', runId], { cwd: project.root });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const line = readFileSync(join(project.root, '.pi/taskflows/runs', runId, 'journal.jsonl'), 'utf8').split('\n')[0]!;
    rmSync(join(project.root, '.pi'), { recursive: true });
    project.write('go', '');
    // 2: it had not looked yet, and there is no such run any more.
    expect([1, 2]).toContain((await wait.done).status);
    const { pid } = JSON.parse(line).owner;
    await until(() => spawnSync('kill', ['-0', String(pid)]).status !== 0);
  });
});

it('every run can be attached to, and Ctrl-C leaves it alone', async () => {
  project.write('flow.json', flow(waiting));
  const run = startCli(['run', './flow.json'], { cwd: project.root });
  await until(() => begun() !== '');
  const attach = startCli(['runs', 'attach', 'last'], { cwd: project.root });
  await until(() => attach.stderr().includes('a started'));
  attach.kill('SIGINT');
  expect([(await attach.done).status, attach.stderr()]).toEqual([130, expect.stringContaining('goes on')]);
  project.write('go', '');
  expect((await run.done).status).toBe(0);
});
