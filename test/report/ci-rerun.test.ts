import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.js';

/** Scripts of this flow count their executions in the home folder, which they see and which is not part of any key. */
const FLOW = `name: ci
args: { level: { type: number, default: 1 } }
phases:
  - id: lint
    type: script
    run: 'echo lint >> "$HOME/executed"; cat src/*.txt | wc -l'
    cache: { scope: cross-run, fingerprint: ["glob:src/**"] }
  - id: docs
    type: script
    run: 'echo docs >> "$HOME/executed"; wc -c < README.md'
    cache: { scope: cross-run, fingerprint: ["file:README.md"] }
  - id: build
    type: script
    run: 'echo build >> "$HOME/executed"; mkdir -p dist && cat src/*.txt > dist/out.txt'
    outputs: ["dist/**"]
    cache: { scope: cross-run, fingerprint: ["glob:src/**"] }
  - id: report
    type: script
    run: 'echo report >> "$HOME/executed"; cat'
    input: "{steps.lint.output} lines, {steps.docs.output} bytes"
    dependsOn: [build]
    cache: { scope: cross-run, fingerprint: [] }
`;

let base: string;
let home: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'taskflow-ci-'));
  home = join(base, 'home');
  mkdirSync(home);
  const origin = join(base, 'origin');
  mkdirSync(join(origin, 'src'), { recursive: true });
  writeFileSync(join(origin, 'flow.yaml'), FLOW);
  writeFileSync(join(origin, 'README.md'), 'hello\n');
  writeFileSync(join(origin, '.gitignore'), 'dist/\n');
  for (const name of ['a', 'b']) writeFileSync(join(origin, `src/${name}.txt`), `${name}\n`);
  git(origin, 'init', '-q', '-b', 'main');
  git(origin, 'add', '-A');
  git(origin, '-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-q', '-m', 'first');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function git(cwd: string, ...args: string[]): void {
  execFileSync('git', args, { cwd, env: { PATH: process.env['PATH'], HOME: home } });
}

/** A checkout as CI makes it: in another folder, with times of its own. */
function freshClone(name: string): string {
  const folder = join(base, 'runners', name, 'work');
  mkdirSync(join(folder, '..'), { recursive: true });
  git(base, 'clone', '-q', join(base, 'origin'), folder);
  const then = new Date(Date.now() - Math.random() * 1e9);
  for (const file of ['src/a.txt', 'src/b.txt', 'README.md', 'flow.yaml']) utimesSync(join(folder, file), then, then);
  return folder;
}

async function taskflow(cwd: string, ...args: string[]) {
  const env = { HOME: home, CI: 'true' };
  const { status, stdout, stderr } = await runCli(args, { cwd, env });
  return { status, stderr, stdout, result: stdout.startsWith('{') ? JSON.parse(stdout) : undefined };
}

function executed(): string[] {
  const file = join(home, 'executed');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  rmSync(file, { force: true });
  return lines.sort();
}

describe('a rerun in CI', () => {
  it('executes nothing in a fresh clone with an imported cache; after an edit only what changed', async () => {
    const first = freshClone('one');
    expect((await taskflow(first, 'run', 'flow.yaml', '--json')).status).toBe(0);
    expect(executed()).toEqual(['build', 'docs', 'lint', 'report']);
    const archive = join(base, 'cache.archive');
    expect((await taskflow(first, 'cache', 'export', archive)).status).toBe(0);

    const second = freshClone('two');
    expect((await taskflow(second, 'cache', 'import', archive)).status).toBe(0);
    const warm = await taskflow(second, 'run', 'flow.yaml', '--json');
    expect(warm.result).toMatchObject({ status: 'success', reuse: { executed: 0, crossRun: 4 } });
    expect(executed()).toEqual([]);
    // What the reused build wrote is there.
    expect(readFileSync(join(second, 'dist/out.txt'), 'utf8')).toBe('a\nb\n');
    expect((await taskflow(second, 'run', 'flow.yaml', '--frozen')).status).toBe(0);

    writeFileSync(join(second, 'README.md'), 'hello, world\n');
    const frozen = await taskflow(second, 'run', 'flow.yaml', '--frozen', '--json');
    expect(frozen.status).toBe(6);
    expect(frozen.result.error).toMatchObject({ phase: 'docs', code: 'frozen' });
    expect(frozen.result.error.message).toContain('README.md');
    expect(executed()).toEqual([]);

    const edited = await taskflow(second, 'run', 'flow.yaml', '--json');
    expect(edited.status).toBe(0);
    expect(executed()).toEqual(['docs', 'report']);
    const reasons = Object.fromEntries(
      edited.result.phases.map((phase: { id: string; reason: string }) => [phase.id, phase.reason]),
    );
    expect(reasons['docs']).toContain('README.md');
    expect(reasons['report']).toContain('docs');
    expect((await taskflow(second, 'cache', 'export', archive)).status).toBe(0);

    const third = freshClone('three');
    writeFileSync(join(third, 'README.md'), 'hello, world\n');
    expect((await taskflow(third, 'cache', 'import', archive)).status).toBe(0);
    expect((await taskflow(third, 'run', 'flow.yaml', '--frozen')).status).toBe(0);
    expect(executed()).toEqual([]);
  });

  it('takes a cache folder that was kept between jobs as it is', async () => {
    const first = freshClone('one');
    await taskflow(first, 'run', 'flow.yaml');
    executed();
    const second = freshClone('two');
    mkdirSync(join(second, '.pi/taskflows'), { recursive: true });
    cpSync(join(first, '.pi/taskflows/cache'), join(second, '.pi/taskflows/cache'), { recursive: true });
    const warm = await taskflow(second, 'run', 'flow.yaml', '--json');
    expect(warm.result.reuse).toMatchObject({ executed: 0, crossRun: 4 });
    expect(executed()).toEqual([]);
  });

  it('takes nothing of an archive that was tampered with', async () => {
    const first = freshClone('one');
    await taskflow(first, 'run', 'flow.yaml');
    const archive = join(base, 'cache.archive');
    await taskflow(first, 'cache', 'export', archive);
    const bytes = readFileSync(archive);
    bytes[Math.floor(bytes.length / 2)]! ^= 1;
    writeFileSync(archive, bytes);
    executed();
    const second = freshClone('two');
    expect((await taskflow(second, 'cache', 'import', archive)).status).toBe(2);
    await taskflow(second, 'run', 'flow.yaml');
    expect(executed()).toEqual(['build', 'docs', 'lint', 'report']);
  });
});
