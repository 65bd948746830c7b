import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFingerprints } from '../../src/memo/fingerprint/resolver.js';
import { exec, type TestProject, testProject } from './support.js';

const HAS_REFTABLE = spawnSync('git', ['init', '-h'], { encoding: 'utf8' }).stdout.includes('--ref-format');

let p: TestProject;
beforeEach(() => {
  p = testProject();
});
afterEach(() => p.remove());

function repository(): void {
  p.git('init', '-q', '-b', 'main');
  p.write('a.txt', 'a');
  p.git('add', '.');
  p.git('commit', '-q', '-m', 'one');
}

describe('git:<ref> is the commit', () => {
  test('of HEAD and branches, loose and packed', async () => {
    repository();
    const commit = p.git('rev-parse', 'HEAD');
    p.git('branch', 'feature/x');
    for (const entry of ['git:HEAD', 'git:main', 'git:feature/x']) expect(await p.value(entry)).toBe(commit);
    p.git('pack-refs', '--all');
    for (const entry of ['git:HEAD', 'git:main', 'git:feature/x']) expect(await p.value(entry)).toBe(commit);
    p.git('commit', '-q', '--allow-empty', '-m', 'two');
    expect(await p.value('git:HEAD')).toBe(p.git('rev-parse', 'HEAD'));
    expect(await p.value('git:feature/x')).toBe(commit);
    p.git('checkout', '-q', '--detach');
    expect(await p.value('git:HEAD')).toBe(p.git('rev-parse', 'HEAD'));
  });

  test.skipIf(!HAS_REFTABLE)('in whatever format git keeps its refs', async () => {
    p.git('init', '-q', '-b', 'main', '--ref-format=reftable');
    p.git('commit', '-q', '--allow-empty', '-m', 'one');
    expect(await p.value('git:main')).toBe(p.git('rev-parse', 'HEAD'));
  });

  test('of a linked worktree, and from a folder deep inside', async () => {
    repository();
    p.git('worktree', 'add', '-q', '-b', 'other', join(p.root, 'tree'));
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@e.org', 'commit', '-q', '--allow-empty', '-m', 'w'], {
      cwd: join(p.root, 'tree'),
    });
    mkdirSync(join(p.root, 'tree/deep'));
    const project = { ...p.project, root: join(p.root, 'tree/deep') };
    const resolver = createFingerprints({ project, stateDir: p.stateDir, exec });
    expect(await resolver.resolve('git:HEAD', { ownOutputs: [] })).toMatchObject({
      value: { value: p.git('rev-parse', 'other') },
    });
    expect(p.git('rev-parse', 'other')).not.toBe(p.git('rev-parse', 'main'));
  });

  test('of tags, also annotated ones, revisions, and names that could mean two things: git decides', async () => {
    repository();
    const first = p.git('rev-parse', 'HEAD');
    p.git('tag', '-a', 'v1', '-m', 'v1');
    p.git('commit', '-q', '--allow-empty', '-m', 'two');
    expect(await p.value('git:v1')).toBe(first);
    expect(await p.value('git:HEAD~1')).toBe(first);
    p.git('tag', 'main', 'v1^{}');
    expect(await p.value('git:main')).toBe(p.git('rev-parse', 'main'));
    expect(await p.value('git:refs/heads/main')).toBe(p.git('rev-parse', 'HEAD'));
  });

  test('an unknown ref, no commit yet, and a git that fails have no value', async () => {
    p.git('init', '-q', '-b', 'main');
    expect(await p.value('git:HEAD')).toBe('failed: the repository has no commit yet');
    expect(await p.value('git:nope')).toBe('failed: git knows no commit nope');
    writeFileSync(join(p.root, '.git/HEAD'), 'garbage');
    expect(await p.value('git:HEAD')).toMatch(/^failed: git failed/);
    expect(await p.value('git:worktree')).toMatch(/^failed: git failed/);
  });

  test('outside of a repository it is empty, with a warning', async () => {
    for (const entry of ['git:HEAD', 'git:worktree']) {
      const result = await p.fingerprints().resolve(entry, { ownOutputs: [] });
      expect(result).toMatchObject({
        value: { value: '' },
        warning: expect.stringContaining('not in a git repository'),
      });
    }
  });
});

describe('git:worktree sees under an unchanged HEAD', () => {
  async function expectMoves(steps: (() => void)[]): Promise<void> {
    const seen = [JSON.stringify(await p.value('git:worktree'))];
    for (const step of steps) {
      step();
      const value = JSON.stringify(await p.value('git:worktree'));
      expect(value).toContain('changes');
      expect(seen, step.toString()).not.toContain(value);
      seen.push(value);
    }
  }

  test('edits, same-size edits, staged edits, deletions, new files, modes, links', async () => {
    repository();
    await expectMoves([
      () => p.write('a.txt', 'b'),
      () => p.write('a.txt', 'c'),
      () => p.write('new.txt', 'n'),
      () => p.write('new.txt', 'm'),
      () => chmodSync(join(p.root, 'new.txt'), 0o755),
      () => symlinkSync('a.txt', join(p.root, 'link')),
      () => {
        rmSync(join(p.root, 'link'));
        symlinkSync('new.txt', join(p.root, 'link'));
      },
      () => p.write('dir/with space/ä "quoted".txt', 'x'),
      () => rmSync(join(p.root, 'a.txt')),
      () => p.git('commit', '-q', '-a', '-m', 'two'),
    ]);
  });

  test('an edit with size and mtime as before', async () => {
    repository();
    p.git('config', 'core.trustctime', 'false');
    const past = Date.now() / 1000 - 3600;
    utimesSync(join(p.root, 'a.txt'), past, past);
    p.git('update-index', '--refresh');
    // Git compares the time of the last change by the second.
    await pause(1_010 - (Date.now() % 1_000));
    await expectMoves([
      () => {
        p.write('a.txt', 'z');
        utimesSync(join(p.root, 'a.txt'), past, past);
      },
    ]);
  });

  test('files that git was asked not to look at, and settings that hide changes', async () => {
    repository();
    p.git('update-index', '--assume-unchanged', 'a.txt');
    p.git('config', 'status.showUntrackedFiles', 'no');
    p.git('config', 'core.trustctime', 'false');
    await expectMoves([() => p.write('a.txt', 'hidden'), () => p.write('untracked.txt', 'x')]);
  });

  test('repositories inside of this one, also as submodules', async () => {
    repository();
    const inner = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@e.org', ...args], { cwd: join(p.root, 'sub') });
    mkdirSync(join(p.root, 'sub'));
    inner('init', '-q', '-b', 'main');
    p.write('sub/s.txt', 's');
    inner('add', '.');
    inner('commit', '-q', '-m', 's');
    await expectMoves([() => p.write('sub/s.txt', 'nested edit')]);
    inner('checkout', '-q', '--', '.');
    p.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', './sub', 'sub');
    p.git('commit', '-q', '-a', '-m', 'submodule');
    await expectMoves([
      () => p.write('sub/s.txt', 'edit one'),
      () => p.write('sub/s.txt', 'edit two'),
      () => p.write('sub/untracked.txt', 'x'),
      () => p.write('sub/untracked.txt', 'y'),
    ]);
  });

  test('nothing where nothing changed: touch, staging, ignored files, our own files, own outputs', async () => {
    repository();
    p.write('.gitignore', 'ignored\n');
    p.git('add', '.');
    p.git('commit', '-q', '-m', 'ignore');
    const clean = await p.value('git:worktree', ['out/**']);
    expect(clean).toEqual({ head: p.git('rev-parse', 'HEAD'), changes: '' });
    utimesSync(join(p.root, 'a.txt'), new Date(), new Date());
    p.write('ignored', 'x');
    p.write('.pi/taskflows/runs/r/journal.jsonl', 'x');
    p.write('.pi/taskflows/cache/x.json', 'x');
    p.write('out/report.md', 'x');
    expect(await p.value('git:worktree', ['out/**'])).toEqual(clean);
    p.write('b.txt', 'b');
    const untracked = await p.value('git:worktree', ['out/**']);
    p.git('add', 'b.txt');
    expect(await p.value('git:worktree', ['out/**'])).toEqual(untracked);
  });

  test('before the first commit, too', async () => {
    p.git('init', '-q', '-b', 'main');
    await expectMoves([() => p.write('a.txt', 'a'), () => p.write('a.txt', 'b')]);
  });

  test('names the files that changed', async () => {
    repository();
    p.write('a.txt', 'b');
    p.write('new/file.txt', 'n');
    const result = await p.fingerprints().resolve('git:worktree', { ownOutputs: [] });
    expect('value' in result && Object.keys(result.value.parts ?? {})).toEqual(['a.txt', 'new/file.txt']);
  });

  test('it does not write to the index', async () => {
    repository();
    p.age('a.txt');
    const index = execFileSync('sha256sum', [join(p.root, '.git/index')]).toString();
    await p.value('git:worktree');
    expect(execFileSync('sha256sum', [join(p.root, '.git/index')]).toString()).toBe(index);
  });
});
