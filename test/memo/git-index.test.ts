import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFingerprints } from '../../src/memo/fingerprint/resolver.js';
import { systemClock } from '../../src/util/clock.js';
import { exec, type TestProject, testProject } from './support.js';

let p: TestProject;
beforeEach(() => {
  p = testProject();
  p.git('init', '-q', '-b', 'main');
  p.write('a.txt', 'a');
  p.write('sub/b.txt', 'b');
  p.write('.gitignore', 'bin/\ncalls.txt\n');
  p.git('add', '.');
  p.git('commit', '-q', '-m', 'one');
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  p.write('bin/git', `#!/bin/sh\necho "$*" >>${p.root}/calls.txt\nexec ${real} "$@"\n`);
  execFileSync('chmod', ['+x', join(p.root, 'bin/git')]);
  p.env['PATH'] = `${p.root}/bin:${process.env['PATH']}`;
});
afterEach(() => p.remove());

/** What a new process says, an hour after the last edit. */
async function later(root = p.root): Promise<unknown> {
  const clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };
  const project = { ...p.project, root, clock };
  const resolved = await createFingerprints({ project, stateDir: p.stateDir, exec }).resolve('git:worktree', {
    ownOutputs: [],
  });
  return 'failed' in resolved ? resolved.failed : resolved.value.value;
}

/** How often git listed its index since the last time. */
function listings(): number {
  const count = readFileSync(join(p.root, 'calls.txt'), 'utf8').split('ls-files').length - 1;
  writeFileSync(join(p.root, 'calls.txt'), '');
  return count;
}

test('an index that stays as it is, is listed once', async () => {
  const clean = await later();
  expect(await later()).toEqual(clean);
  expect(listings()).toBe(1);
  p.write('a.txt', 'edited');
  expect(await later()).not.toEqual(clean);
  expect(listings()).toBe(0);
});

test('one that was written just now may be written again with the same stamp: it is listed each time', async () => {
  await p.value('git:worktree');
  await p.value('git:worktree');
  expect(listings()).toBe(2);
});

test('a file that is hidden from git after the index was listed', async () => {
  const clean = await later();
  p.git('update-index', '--assume-unchanged', 'a.txt');
  const hidden = await later();
  p.write('a.txt', 'b');
  const edited = await later();
  expect(edited).not.toEqual(clean);
  expect(edited).not.toEqual(hidden);
  p.git('update-index', '--no-assume-unchanged', 'a.txt');
  p.git('checkout', '-q', 'a.txt');
  expect(await later()).toEqual(clean);
});

test('another index, named by a variable, is listed each time', async () => {
  await later();
  p.env['GIT_INDEX_FILE'] = join(p.root, '.git/index');
  await later();
  await later();
  expect(listings()).toBe(3);
});

test('from a folder inside of the repository it is the same', async () => {
  const clean = await later();
  expect(await later(join(p.root, 'sub'))).toEqual(clean);
  p.write('a.txt', 'edited');
  p.write('sub/new.txt', 'new');
  expect(await later(join(p.root, 'sub'))).toEqual(await later());
});

test('a repository whose folder has a line end in its name', async () => {
  const root = join(p.root, 'odd\nname');
  p.write('odd\nname/c.txt', 'c');
  execFileSync('git', ['init', '-q', root]);
  const one = await later(root);
  expect(one).toMatchObject({ head: '' });
  p.write('odd\nname/c.txt', 'd');
  expect(await later(root)).not.toEqual(one);
});
