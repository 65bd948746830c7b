import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, runCli, type TestProject } from '../support/cli.js';
import { forgedKept } from '../support/kept-file.js';

/** What is worked out from flows and settings decides what is executed: only the user's own folder may hold it. */

let project: TestProject;
let home: string;
beforeEach(() => {
  project = createTestProject({
    'repo/.pi/taskflows/config.yaml': 'concurrency: 2\n',
    'repo/flow.yaml': 'phases:\n  - { id: say, type: script, run: [echo, honest] }\n',
  });
  home = join(project.root, 'home');
  mkdirSync(home);
});
afterEach(() => project.remove());

const run = (cwd: string, ...args: string[]) => runCli(args, { cwd, env: { HOME: home } });

function filesBelow(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  return found.filter((path) => statSync(path).isFile());
}

/** Kept checks, wherever this version puts them. */
function keptChecks(): string[] {
  return filesBelow(project.root).filter((path) => /^[0-9a-f]{64}\.json$/.test(basename(path)));
}

describe('a committed form of a checked flow', () => {
  it('has no effect in a clone: what the flow says is executed', async () => {
    const repo = join(project.root, 'repo');
    expect((await run(repo, 'graph', 'flow.yaml')).status).toBe(0);
    const forged = keptChecks().map((path) => ({
      name: basename(path),
      text: forgedKept(path, 'honest', 'forged'),
    }));
    expect(forged.some(({ text }) => text.includes('forged'))).toBe(true);
    const clone = join(project.root, 'clone');
    const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, stdio: 'pipe' });
    for (const folder of ['.pi/taskflows/checked', '.pi/taskflows/cache', '.pi/taskflows/projects']) {
      mkdirSync(join(repo, folder), { recursive: true });
      for (const { name, text } of forged) writeFileSync(join(repo, folder, name), text);
    }
    git(repo, 'init', '-q');
    git(repo, 'add', '-f', '-A');
    git(repo, '-c', 'user.name=m', '-c', 'user.email=m@example.org', 'commit', '-qm', 'all');
    git(project.root, 'clone', '-q', repo, clone);
    const { stdout } = await run(clone, 'run', 'flow.yaml', '--no-cache', '--fresh', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ status: 'success', output: 'honest' });
  });

  it('and nothing derived is in the project to be committed', async () => {
    const repo = join(project.root, 'repo');
    await run(repo, 'run', 'flow.yaml');
    expect(existsSync(join(repo, '.pi/taskflows/checked'))).toBe(false);
    expect(keptChecks().every((path) => path.startsWith(join(home, '.cache/taskflow/projects/')))).toBe(true);
    expect(keptChecks().length).toBeGreaterThan(0);
  });
});

describe("the user's folder of what is derived", () => {
  const projects = () => join(home, '.cache/taskflow/projects');
  const folderOfRepo = () => join(projects(), readdirSync(projects())[0]!);

  /** Replaces what was kept, so that whether it is believed can be seen. */
  async function forgeKept(): Promise<void> {
    const repo = join(project.root, 'repo');
    expect((await run(repo, 'graph', 'flow.yaml')).status).toBe(0);
    for (const path of keptChecks()) writeFileSync(path, forgedKept(path, 'honest', 'kept'));
  }
  const output = async () => {
    const { stdout } = await run(join(project.root, 'repo'), 'run', 'flow.yaml', '--no-cache', '--fresh', '--json');
    return (JSON.parse(stdout) as { output: string }).output;
  };

  it('is private: 0700, its files 0600', async () => {
    await forgeKept();
    expect(statSync(folderOfRepo()).mode & 0o777).toBe(0o700);
    for (const path of filesBelow(folderOfRepo())) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await output()).toBe('kept');
  });

  it.each([0o777, 0o770])('is not believed while others may write there (%o)', async (mode) => {
    await forgeKept();
    chmodSync(folderOfRepo(), mode);
    expect(await output()).toBe('honest');
    chmodSync(folderOfRepo(), 0o700);
    expect(await output()).toBe('kept');
  });

  it('of one project says nothing about a copy of it elsewhere', async () => {
    await forgeKept();
    cpSync(join(project.root, 'repo'), join(project.root, 'other'), { recursive: true });
    const { stdout } = await run(join(project.root, 'other'), 'run', 'flow.yaml', '--no-cache', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ output: 'honest' });
  });

  it('forgets projects that are gone when another one comes', async () => {
    cpSync(join(project.root, 'repo'), join(project.root, 'short-lived'), { recursive: true });
    await run(join(project.root, 'short-lived'), 'graph', 'flow.yaml');
    expect(readdirSync(projects())).toHaveLength(1);
    execFileSync('rm', ['-rf', join(project.root, 'short-lived')]);
    await run(join(project.root, 'repo'), 'graph', 'flow.yaml');
    expect(readdirSync(projects())).toHaveLength(1);
    expect(keptChecks().length).toBeGreaterThan(0);
  });

  it('is not believed when it lies in the project: a clone would bring it', async () => {
    const repo = join(project.root, 'repo');
    const inside = { HOME: home, XDG_CACHE_HOME: join(repo, '.cache') };
    await forgeKept();
    cpSync(join(home, '.cache'), join(repo, '.cache'), { recursive: true });
    const { stdout } = await runCli(['run', 'flow.yaml', '--no-cache', '--json'], { cwd: repo, env: inside });
    expect(JSON.parse(stdout)).toMatchObject({ output: 'honest' });
  });

  it('is not needed: without it everything works', async () => {
    writeFileSync(join(home, '.cache'), 'a file where a folder should be');
    expect(await output()).toBe('honest');
    expect(await output()).toBe('honest');
  });

  it.skipIf(process.getuid?.() !== 0)('is not made by root in the home of somebody else', async () => {
    execFileSync('chown', ['12345', home]);
    expect(await output()).toBe('honest');
    expect(existsSync(join(home, '.cache'))).toBe(false);
  });
});

describe('file stats of a glob', () => {
  const flow = JSON.stringify({
    name: 'g',
    phases: [
      { id: 'a', type: 'script', run: ['cat', 'in.txt'], cache: { scope: 'cross-run', fingerprint: ['glob:in.txt'] } },
    ],
  });

  it('are not in the cache folder, which may come from elsewhere', async () => {
    const repo = join(project.root, 'repo');
    project.write('repo/glob.json', flow);
    project.write('repo/in.txt', 'one');
    await run(repo, 'run', 'glob.json');
    expect(existsSync(join(repo, '.pi/taskflows/cache/stat-table'))).toBe(false);
    expect(
      filesBelow(join(home, '.cache')).filter((path) => path.endsWith('.bin') && !path.includes('/code/')),
    ).toHaveLength(1);
  });
});
