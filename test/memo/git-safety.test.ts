import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { recordOwnFile, writeOwnFile } from '../../src/memo/files/written-files.js';
import { derivedDir } from '../../src/util/user-cache.js';
import { type TestProject, testProject } from './support.js';

let p: TestProject;
let marker: string;
beforeEach(() => {
  p = testProject();
  p.env['PATH'] = process.env['PATH'];
  p.env['HOME'] = join(p.root, '.pi/home');
  marker = join(p.root, '.pi/executed');
  p.git('init', '-q', '-b', 'main');
  p.write('.gitignore', '.pi\n');
  p.write('a.txt', 'a');
  p.git('add', '.');
  p.git('commit', '-q', '-m', 'one');
});
afterEach(() => p.remove());

/** A program that leaves a mark when it is executed. */
function trap(): string {
  p.write('.pi/trap', `#!/bin/sh\necho "$0 $*" >> '${marker}'\ncat\n`);
  chmodSync(join(p.root, '.pi/trap'), 0o755);
  return join(p.root, '.pi/trap');
}

/** The file has to be compared by its content, which is when git asks its filters. */
function touch(path: string): void {
  utimesSync(join(p.root, path), new Date(), new Date(Date.now() + 5_000));
}

describe('looking at a repository executes nothing that it configures', () => {
  test('a monitor of files', async () => {
    p.git('config', 'core.fsmonitor', trap());
    touch('a.txt');
    expect(await p.value('git:worktree')).toMatchObject({ changes: '' });
    expect(existsSync(marker)).toBe(false);
  });

  test('a way to fetch what is missing', async () => {
    p.git('config', 'core.repositoryFormatVersion', '1');
    p.git('config', 'extensions.partialClone', 'origin');
    p.git('config', 'remote.origin.promisor', 'true');
    p.git('config', 'remote.origin.url', 'ssh://git.invalid/x');
    p.git('config', 'core.sshCommand', trap());
    expect(await p.value(`git:${'12'.repeat(20)}`)).toMatch(/^failed: /);
    expect(existsSync(marker)).toBe(false);
  });

  test('hooks', async () => {
    mkdirSync(join(p.root, '.git/hooks'), { recursive: true });
    const program = trap();
    for (const hook of ['post-index-change', 'fsmonitor-watchman', 'reference-transaction']) {
      p.write(`.git/hooks/${hook}`, `#!/bin/sh\nexec ${program}\n`);
      chmodSync(join(p.root, '.git/hooks', hook), 0o755);
    }
    touch('a.txt');
    await p.value('git:worktree');
    expect(existsSync(marker)).toBe(false);
  });

  test.each(['clean', 'process'])('filters (%s), also those of a submodule', async (kind) => {
    const inner = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@e.org', ...args], { cwd: join(p.root, 'sub') });
    mkdirSync(join(p.root, 'sub'));
    inner('init', '-q', '-b', 'main');
    for (const folder of ['', 'sub/']) {
      p.write(`${folder}.gitattributes`, `* filter=${folder === '' ? 'evil' : 'inner'}\n`);
      p.write(`${folder}b.txt`, 'b');
    }
    inner('add', '.');
    inner('commit', '-q', '-m', 's');
    p.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', './sub', 'sub');
    p.git('add', '.');
    p.git('commit', '-q', '-m', 'two');
    const clean = await p.value('git:worktree');
    p.git('config', `filter.evil.${kind}`, trap());
    p.git('config', 'filter.evil.required', 'true');
    inner('config', `filter.inner.${kind}`, trap());
    for (const path of ['a.txt', 'b.txt', 'sub/b.txt']) touch(path);
    expect(await p.value('git:worktree')).toEqual(clean);
    expect(existsSync(marker)).toBe(false);
    p.write('sub/b.txt', 'edited');
    expect(await p.value('git:worktree')).not.toEqual(clean);
    expect(existsSync(marker)).toBe(false);
  });
});

test('variables for editors, pagers and questions are no obstacle', async () => {
  const before = await p.value('git:worktree');
  const names = [
    'GIT_PAGER',
    'PAGER',
    'EDITOR',
    'VISUAL',
    'GIT_EDITOR',
    'GIT_ASKPASS',
    'SSH_ASKPASS',
    'GIT_SSH_COMMAND',
  ];
  for (const name of names) p.env[name] = trap();
  p.env['GIT_CONFIG_COUNT'] = '1';
  p.env['GIT_CONFIG_KEY_0'] = 'core.sshCommand';
  p.env['GIT_CONFIG_VALUE_0'] = 'ssh';
  expect(await p.value('git:worktree')).toEqual(before);
  expect(existsSync(marker)).toBe(false);
});

describe('without a whole answer of git there is no value', () => {
  /** A git that does as the real one until it is asked for something. */
  function fakeGit(script: string): void {
    p.write('.pi/bin/git', `#!/bin/sh\n${script}\n`);
    chmodSync(join(p.root, '.pi/bin/git'), 0o755);
    p.env['PATH'] = `${join(p.root, '.pi/bin')}:${p.env['PATH']}`;
  }
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();

  test('ended by a signal in the middle', async () => {
    fakeGit(`case "$*" in *status*) printf '# branch.oid (initial)\\0'; kill -9 $$;; esac\nexec ${real} "$@"`);
    expect(await p.value('git:worktree')).toBe('failed: git failed: ended by a signal');
  });

  test('a status without words', async () => {
    fakeGit(`case "$*" in *ls-files*) exit 3;; esac\nexec ${real} "$@"`);
    expect(await p.value('git:worktree')).toBe('failed: git failed: status 3');
  });

  test('words that nobody understands', async () => {
    fakeGit(`case "$*" in *status*) echo hello;; *) exec ${real} "$@";; esac`);
    expect(await p.value('git:worktree')).toBe('failed: git status said something unexpected');
  });

  test('no git at all', async () => {
    p.env['PATH'] = join(p.root, '.pi');
    expect(await p.value('git:HEAD')).toBe('failed: git failed: git is not on the PATH');
  });
});

describe('files that taskflow writes are no change', () => {
  test('for as long as they are as it wrote them', async () => {
    const clean = await p.value('git:worktree');
    const report = join(p.root, 'out/report.xml');
    mkdirSync(join(p.root, 'out'));
    writeOwnFile(p.project, report, { data: '<x/>' });
    expect(await p.value('git:worktree')).toEqual(clean);
    writeOwnFile(p.project, report, { data: '<y/>' });
    expect(await p.value('git:worktree')).toEqual(clean);
    p.write('out/report.xml', 'edited by a person');
    expect(await p.value('git:worktree')).not.toEqual(clean);
    p.write('out/report.xml', '<y/>');
    p.write('out/other.xml', '<y/>');
    expect(await p.value('git:worktree')).not.toEqual(clean);
  });

  test('an archive that came from elsewhere, once it is known as one', async () => {
    const clean = await p.value('git:worktree');
    p.write('cache.archive', Buffer.from([1, 2, 255]));
    expect(await p.value('git:worktree')).not.toEqual(clean);
    await recordOwnFile(p.project, join(p.root, 'cache.archive'));
    expect(await p.value('git:worktree')).toEqual(clean);
  });

  test('a file that is just being written', async () => {
    const clean = await p.value('git:worktree');
    p.write('out/report.xml.4711-1-abc12.tmp', 'half');
    expect(await p.value('git:worktree')).toEqual(clean);
  });

  test('the list stays short, and a damaged one only costs a miss', async () => {
    const clean = await p.value('git:worktree');
    for (let i = 0; i < 1_100; i++) writeOwnFile(p.project, join(p.root, 'r.xml'), { data: `${i}` });
    expect(await p.value('git:worktree')).toEqual(clean);
    const list = join(derivedDir(p.project), 'written.jsonl');
    expect(execFileSync('wc', ['-l', list], { encoding: 'utf8' })).toMatch(/^1 /);
    rmSync(list);
    writeFileSync(list, '["torn\n{}\n["x"]\n', { mode: 0o600 });
    expect(await p.value('git:worktree')).not.toEqual(clean);
  });
});
