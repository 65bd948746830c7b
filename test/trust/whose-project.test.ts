import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FlowError, loadFlow, openProject } from '../../src/index.js';
import { canBeOthers, give, runCliAs, STRANGER } from '../support/as-user.js';
import { runCli } from '../support/cli.js';

/** The class of git's safe.directory: whose `.pi` decides what is executed. */

let outer: string;
let base: string;
beforeEach(() => {
  // Not among the suite's own folders: above those lie settings that no test may find.
  outer = realpathSync(mkdtempSync('/tmp/whose-'));
  base = join(outer, 'base');
  mkdirSync(base);
  // The command itself lies among the suite's folders, and is started as somebody else.
  chmodSync(tmpdir(), 0o755);
  chmodSync(outer, 0o755);
  chmodSync(base, 0o755);
});
afterEach(() => rmSync(outer, { recursive: true, force: true }));

const at = (path: string) => join(base, path);
const home = () => at('home');
const mark = () => at('executed');

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
  chmodSync(at(path), mode);
}

/** A project whose runner notes that it was executed. */
function plant(folder: string): void {
  write(`${folder}/.pi/taskflows/config.yaml`, `runner: evil\nrunners:\n  evil: { command: [${at('evil.sh')}] }\n`);
  write(`${folder}/.pi/taskflows/saved.yaml`, 'phases:\n  - { id: ask, task: hello }\n');
  write('evil.sh', `#!/bin/sh\necho ran >> ${mark()}\necho answer\n`, 0o755);
}

const run = (cwd: string, args: readonly string[], env: Record<string, string> = {}) =>
  runCli(args, { cwd: at(cwd), env: { HOME: home(), ...env } });

function makeMine(folder: string): void {
  mkdirSync(at(folder), { recursive: true });
  write(`${folder}/flow.yaml`, 'phases:\n  - { id: ask, task: hello }\n');
}

describe.skipIf(!canBeOthers)('a .pi of somebody else', () => {
  it("above the folder is not obeyed: its runner's command is not executed", async () => {
    plant('shared');
    makeMine('shared/mine');
    give(at('shared/.pi'), STRANGER);
    for (const args of [['run', 'flow.yaml'], ['run', 'saved'], ['check', 'flow.yaml'], ['doctor']]) {
      const { status, stderr } = await run('shared/mine', args);
      expect(status).toBe(2);
      expect(stderr).toContain(`${at('shared/.pi')} belongs to user ${STRANGER}, not to you`);
      expect(stderr).toContain(`taskflow config set --user safe.projects ${at('shared')}`);
      expect(stderr).toContain('--root');
    }
    expect(existsSync(mark())).toBe(false);
  });

  it.each(['.pi/taskflows', '.pi/taskflows/config.yaml', ''])('is seen in each of its parts (%s)', async (part) => {
    plant('shared');
    chownSync(join(at('shared'), part), STRANGER, STRANGER);
    const { status, stderr } = await run('shared', ['run', 'saved']);
    expect([status, existsSync(mark())]).toEqual([2, false]);
    expect(stderr).toContain(`belongs to user ${STRANGER}`);
  });

  it('is seen behind a link', async () => {
    plant('elsewhere');
    give(at('elsewhere'), STRANGER);
    makeMine('mine');
    symlinkSync(at('elsewhere/.pi'), at('mine/.pi'));
    expect((await run('mine', ['run', 'saved'])).status).toBe(2);
    // A repository may bring a link: it belongs to whoever cloned it, what is behind it does not.
    plant('clone');
    rmSync(at('clone/.pi/taskflows/config.yaml'));
    symlinkSync(at('elsewhere/.pi/taskflows/config.yaml'), at('clone/.pi/taskflows/config.yaml'));
    expect((await run('clone', ['run', 'saved'])).status).toBe(2);
    expect(existsSync(mark())).toBe(false);
  });

  it('a .git of somebody else makes no project either', async () => {
    mkdirSync(at('shared/.git'), { recursive: true });
    makeMine('shared/mine');
    give(at('shared/.git'), STRANGER);
    const { status, stderr } = await run('shared/mine', ['graph', 'flow.yaml']);
    expect(status).toBe(2);
    expect(stderr).toContain(`${at('shared/.git')} belongs to user ${STRANGER}`);
  });

  it('is obeyed where the settings of the user, or the environment, say so', async () => {
    plant('shared');
    give(at('shared'), STRANGER);
    expect((await run('shared', ['run', 'saved'])).status).toBe(2);
    const elsewhere = { TASKFLOW_SAFE_PROJECTS: '/somewhere:relative' };
    expect((await run('shared', ['run', 'saved'], elsewhere)).status).toBe(2);
    expect((await run('shared', ['run', 'saved'], { TASKFLOW_SAFE_PROJECTS: `/x:${at('shared')}` })).status).toBe(0);
    // What the hint says works in that very folder.
    expect((await run('shared', ['config', 'set', '--user', 'safe.projects', at('shared')])).status).toBe(0);
    expect(await run('shared', ['run', 'saved'])).toMatchObject({ status: 0, stdout: 'answer\n' });
    expect(readFileSync(mark(), 'utf8')).toBe('ran\nran\n');
  });

  it('cannot say itself that it is safe', async () => {
    plant('shared');
    write('shared/.pi/taskflows/config.yaml', `safe: { projects: [${at('shared')}] }\n`);
    give(at('shared'), STRANGER);
    expect((await run('shared', ['run', 'saved'])).status).toBe(2);
  });

  it('--root says which folder is the project instead', async () => {
    plant('shared');
    makeMine('shared/mine');
    give(at('shared/.pi'), STRANGER);
    const { status, stdout } = await run('shared/mine', ['graph', 'flow.yaml', '--root', '.']);
    expect([status, stdout]).toEqual([0, expect.stringContaining('ask')]);
    expect((await run('shared/mine', ['run', 'saved', '--root', '..'])).status).toBe(2);
  });

  it('is no obstacle for the one it belongs to', async () => {
    plant('theirs');
    give(at('theirs'), STRANGER);
    mkdirSync(home());
    give(home(), STRANGER);
    chmodSync(base, 0o777);
    const theirs = { cwd: at('theirs'), env: { HOME: home() } };
    expect(await runCliAs(STRANGER, ['run', 'saved'], theirs)).toMatchObject({ status: 0 });
  });

  it('is that of the user who became root with sudo', async () => {
    plant('theirs');
    give(at('theirs'), STRANGER);
    expect((await run('theirs', ['run', 'saved'], { SUDO_UID: `${STRANGER}` })).status).toBe(0);
    expect((await run('theirs', ['run', 'saved'], { SUDO_UID: `${STRANGER + 1}` })).status).toBe(2);
  });

  it('is not obeyed for a user either, though SUDO_UID says otherwise', async () => {
    plant('roots');
    const { status } = await runCliAs(STRANGER, ['run', 'saved'], {
      cwd: at('roots'),
      env: { HOME: home(), SUDO_UID: '0' },
    });
    expect([status, existsSync(mark())]).toEqual([2, false]);
  });

  it('is not obeyed by a program that uses the library', async () => {
    plant('shared');
    give(at('shared'), STRANGER);
    const env = { PATH: process.env['PATH'], HOME: home() };
    const project = openProject(at('shared'), env);
    const error = await loadFlow(project, 'saved').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FlowError);
    expect((error as FlowError).diagnostics).toMatchObject([
      { code: 'not-yours', hint: expect.stringContaining('TASKFLOW_SAFE_PROJECTS') },
    ]);
    const allowed = openProject(at('shared'), { ...env, TASKFLOW_SAFE_PROJECTS: at('shared') });
    expect((await loadFlow(allowed, 'saved')).flow.phases).toHaveLength(1);
  });
});

describe('a folder that everybody can write', () => {
  it.each([true, false])('/tmp/.pi never captures what lies below it (our own: %s)', async (own) => {
    if (!own && !canBeOthers) return;
    plant('tmp');
    mkdirSync(at('tmp/.git'));
    chmodSync(at('tmp'), 0o1777);
    if (!own) give(at('tmp/.pi'), STRANGER);
    makeMine('tmp/mine');
    write('tmp/mine/script.yaml', 'phases:\n  - { id: a, type: script, run: [echo, hello] }\n');
    const { status, stdout } = await run('tmp/mine', ['run', 'script.yaml']);
    expect([status, stdout]).toEqual([0, 'hello\n']);
    expect(existsSync(at('tmp/mine/.pi/taskflows/runs'))).toBe(true);
    expect((await run('tmp/mine', ['run', 'saved'])).status).toBe(2);
    expect(existsSync(mark())).toBe(false);
  });

  it('and is not sticky: an error, since a .pi there may be the one that was meant', async () => {
    plant('open');
    chmodSync(at('open'), 0o777);
    makeMine('open/mine');
    const { status, stderr } = await run('open/mine', ['run', 'saved']);
    expect([status, existsSync(mark())]).toEqual([2, false]);
    expect(stderr).toContain(`${at('open')} can be written by everybody`);
    expect((await run('open/mine', ['run', 'saved'], { TASKFLOW_SAFE_PROJECTS: at('open') })).status).toBe(0);
  });

  it.each(['.pi', '.pi/taskflows', '.pi/taskflows/config.yaml'])('is no place for %s', async (part) => {
    plant('mine');
    chmodSync(at(`mine/${part}`), 0o777);
    const { status, stderr } = await run('mine', ['run', 'saved']);
    expect([status, existsSync(mark())]).toEqual([2, false]);
    expect(stderr).toContain(`${at(`mine/${part}`)} can be written by everybody`);
  });

  it('is a project of its own for whoever works right there: runs that were made there are found again', async () => {
    mkdirSync(at('tmp'));
    chmodSync(at('tmp'), 0o1777);
    write('tmp/flow.yaml', 'phases:\n  - { id: a, type: script, run: [echo, hello] }\n');
    for (let i = 0; i < 2; i++) expect((await run('tmp', ['run', 'flow.yaml', '--fresh'])).status).toBe(0);
    expect(JSON.parse((await run('tmp', ['runs', '--json'])).stdout)).toHaveLength(2);
  });
});

describe('--root', () => {
  it('says the project root, before the command or after it', async () => {
    plant('project');
    mkdirSync(at('project/deep/.git'), { recursive: true });
    for (const args of [
      ['--root', '..', 'doctor', '--json'],
      ['doctor', '--json', '--root', '..'],
      ['doctor', '--json', `--root=${at('project')}`],
    ]) {
      const { findings } = JSON.parse((await run('project/deep', args)).stdout) as {
        findings: { name: string; message: string }[];
      };
      expect(findings.find(({ name }) => name === 'project')?.message).toBe(at('project'));
    }
  });

  it('must be a folder', async () => {
    mkdirSync(at('x'));
    const { status, stderr } = await run('x', ['doctor', '--root', 'nowhere']);
    expect([status, stderr]).toEqual([2, expect.stringContaining('--root nowhere: no such folder')]);
  });
});
