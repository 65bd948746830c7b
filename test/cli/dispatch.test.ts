import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/boot/registry.js';
import { findProjectRoot } from '../../src/config/project-root.js';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
});
afterEach(() => project.remove());

const packageJson = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

describe('the command line', () => {
  it('is a program that says its version without loading anything else', async () => {
    const direct = spawnSync(CLI, ['--version'], { encoding: 'utf8' });
    expect([direct.status, direct.stdout]).toEqual([0, `${packageJson.version}\n`]);
    const traced = spawnSync(process.execPath, ['--require', loadTracer(), CLI, '--version'], { encoding: 'utf8' });
    const loaded = traced.stderr.split('\n').filter((line) => line.includes('chunk-')).length;
    expect(loaded).toBeLessThanOrEqual(2);
  });

  it('says its version as JSON', async () => {
    for (const args of [
      ['--version', '--json'],
      ['--json', '-V'],
    ]) {
      const { status, stdout } = await project.run(args);
      expect(status).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        name: 'taskflow',
        version: packageJson.version,
        node: process.version,
      });
    }
  });

  it('says to a program, too, what an unknown command is called here', async () => {
    const { status, stdout } = await project.run(['logs', 'last', '--json']);
    expect(status).toBe(2);
    expect(JSON.parse(stdout).error).toEqual({
      message: 'unknown command logs',
      hint: 'here that is taskflow runs logs RUN',
    });
  });

  it('explains as a command of its own, and beside the store', async () => {
    const phases = [{ id: 'a', type: 'script', run: ['true'], cache: { scope: 'cross-run', fingerprint: [] } }];
    project.write('flow.json', JSON.stringify({ name: 'f', phases }));
    const { status, stdout } = await project.run(['explain', './flow.json']);
    expect(status).toBe(0);
    expect(stdout).toContain('▸ a would run: first time');
    expect((await project.run(['cache', 'explain', './flow.json'])).stdout).toBe(stdout);
  });

  it('shows every command in --help, on stdout', async () => {
    const { status, stdout, stderr } = await project.run(['--help']);
    expect([status, stderr]).toEqual([0, '']);
    for (const { name } of COMMANDS) expect(stdout).toContain(name);
  });

  it('shows the help on stderr, with status 2, when nothing was asked', async () => {
    const { status, stdout, stderr } = await project.run([]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Usage');
  });

  it.each(COMMANDS.map(({ name }) => [name]))('%s --help has usage, flags and an example', async (name) => {
    const { status, stdout, stderr } = await project.run([...name.split(' '), '--help']);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`taskflow ${name}`);
    expect(stdout).toMatch(/Examples\n {2}# .+\n {2}\S+/);
    expect(stdout).toContain('--cwd DIR');
  });

  it('shows the help of a group of commands', async () => {
    expect((await project.run(['config', '--help'])).stdout).toContain('config set');
    expect(await project.run(['config'])).toMatchObject({ status: 2, stdout: '' });
    expect((await project.run(['help', 'config', 'set'])).stdout).toContain('KEY VALUE');
  });

  it.each([
    [['confg', 'list'], 'did you mean config?'],
    [['config', 'lst'], 'did you mean config list?'],
    [['logs', 'last'], 'here that is taskflow runs logs RUN'],
    [['status'], 'here that is taskflow runs (what has run) or taskflow cache status FLOW (what is kept)'],
    [['watch', 'x.yaml'], 'here that is taskflow run FLOW'],
    [['constructor'], 'unknown command constructor'],
    [['config', 'list', '--jsn'], 'did you mean --json?'],
    [['config', 'list', 'extra'], 'unexpected argument "extra"'],
    [['config', 'set', 'model'], 'VALUE is missing'],
    [['--cwdd', 'x', 'config', 'list'], 'unknown flag --cwdd'],
    [['config', 'list', '--cwd', 'nowhere'], 'no such folder'],
    [['config', 'list', '--cwd', 'x'.repeat(300)], 'no such folder'],
  ])('refuses %j with status 2 and the nearest match', async (args, message) => {
    const { status, stdout, stderr } = await project.run(args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  it('works in another folder with --cwd, before and after the command', async () => {
    mkdirSync(join(project.root, 'sub/.pi'), { recursive: true });
    await project.run(['config', 'set', 'model', 'inner', '--cwd', 'sub']);
    expect((await project.run(['--cwd', 'sub', 'config', 'get', 'model'])).stdout).toBe('inner\n');
    expect((await project.run(['config', 'get', 'model'])).status).toBe(1);
  });

  it('colours only when told to, off a terminal', async () => {
    const colored = (args: string[], env = {}) =>
      project.run(args, { env }).then(({ stdout }) => stdout.includes('\x1b['));
    expect(await colored(['config', 'list'])).toBe(false);
    expect(await colored(['config', 'list', '--color'])).toBe(true);
    expect(await colored(['config', 'list', '--color=never'], { FORCE: '1' })).toBe(false);
  });

  it('is quiet when its reader goes away', async () => {
    const child = spawn(
      'sh',
      [
        '-c',
        `"${process.execPath}" "${CLI}" --help | true; "${process.execPath}" "${CLI}" config list --all | head -1`,
      ],
      {
        cwd: project.root,
        env: cliEnvironment(project.root) as NodeJS.ProcessEnv,
      },
    );
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    await new Promise((resolve) => child.on('close', resolve));
    expect(stderr).toBe('');
  });
});

describe.skipIf(!existsSync('/dev/full'))('on a full disk', () => {
  const shell = (line: string) =>
    spawnSync('sh', ['-c', line], {
      cwd: project.root,
      encoding: 'utf8',
      timeout: 20_000,
      env: cliEnvironment(project.root, { CLI: `${process.execPath} ${CLI}` }) as NodeJS.ProcessEnv,
    });

  it('what cannot be said is given up, and the status says it', () => {
    expect(shell('exec $CLI run nope 2>/dev/full').status).toBe(2);
    expect(shell('exec $CLI --help >/dev/full 2>&1').status).toBe(1);
  });

  it.each(['--version', '--help', 'config list', 'run flow.yaml', 'run flow.yaml --events'])(
    'taskflow %s says that its result is lost',
    (args) => {
      project.write('flow.yaml', 'name: f\nphases:\n  - { id: a, type: script, run: [echo, hello] }\n');
      const { status, stderr } = shell(`exec $CLI ${args} >/dev/full`);
      expect(status).toBe(1);
      expect(stderr).toContain('taskflow: cannot write the result: the disk is full\n');
      expect(stderr).not.toContain('bug');
    },
  );
});

describe('project root', () => {
  it('is the nearest folder upwards with .pi or .git, and never the home folder because of its own .pi', async () => {
    const above = realpathSync(project.root);
    const home = join(above, 'home');
    mkdirSync(join(home, '.pi'), { recursive: true });
    const at = async (path: string) => {
      mkdirSync(join(home, path), { recursive: true });
      const found = await findProjectRoot(join(home, path), { home, env: {} });
      return 'root' in found ? found.root : found.refused;
    };
    expect(await at('plain/deep')).toBe(above);
    mkdirSync(join(home, 'a/.git'), { recursive: true });
    expect(await at('a/b/c')).toBe(join(home, 'a'));
    mkdirSync(join(home, 'a/b/.pi'), { recursive: true });
    expect(await at('a/b/c')).toBe(join(home, 'a/b'));
    expect(await at('.')).toBe(above);
  });
});

/** Prints the path of every module that is loaded. */
function loadTracer(): string {
  project.write(
    'trace.cjs',
    `const M = require('node:module'); const load = M._load; ` +
      `M._load = function (id, parent, main) { process.stderr.write(id + '\\n'); ` +
      'return load.apply(this, arguments); };',
  );
  return join(project.root, 'trace.cjs');
}
