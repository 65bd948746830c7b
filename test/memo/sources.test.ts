import { closeSync, mkdirSync, openSync, rmSync, symlinkSync, truncateSync, utimesSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KnownStats } from '../../src/memo/files/known-stats.js';
import { createFingerprints } from '../../src/memo/fingerprint/resolver.js';
import { parseFingerprint, renderFingerprint } from '../../src/memo/fingerprint/syntax.js';
import { systemClock } from '../../src/util/clock.js';
import { sha256Hex } from '../../src/util/digest.js';
import { bytesRead, COUNTS_BYTES, exec, type TestProject, testProject } from './support.js';

let p: TestProject;

beforeEach(() => {
  p = testProject();
});
afterEach(() => p.remove());

describe('file:', () => {
  test('is the content; missing and empty differ; any size', async () => {
    expect(await p.value('file:x')).toBe(null);
    p.write('x', '');
    expect(await p.value('file:x')).toBe(sha256Hex(''));
    p.write('x', 'same');
    const before = await p.value('file:x');
    p.write('x', 'size');
    expect(await p.value('file:x')).not.toBe(before);
    p.write('x', '');
    truncateSync(join(p.root, 'x'), 40 * 1024 ** 2);
    const huge = await p.value('file:x');
    expect(huge).toBe(sha256Hex(Buffer.alloc(40 * 1024 ** 2)));
  });

  test('a folder, and a path that leads out of the project, have no value', async () => {
    p.write('dir/x', '');
    expect(await p.value('file:dir')).toBe('failed: dir is a folder; glob:dir/** is its content');
    symlinkSync('/etc/hostname', join(p.root, 'out'));
    expect(await p.value('file:out')).toBe('failed: out leads out of the project');
    symlinkSync('/etc', join(p.root, 'etc'));
    expect(await p.value('file:etc/hostname')).toBe('failed: etc/hostname leads out of the project');
    expect(await p.value('file:../x')).toMatch(/^failed: .*leaves the project/);
    expect(await p.value('file:/etc/passwd')).toMatch(/^failed: .*leaves the project/);
  });

  test('a pipe is not waited for', async () => {
    await exec(['mkfifo', join(p.root, 'pipe')], p.root);
    expect(await p.value('file:pipe')).toBe('failed: pipe is no regular file');
  });

  test.each([
    { size: 'small', rest: '' },
    { size: 'large', rest: 'x'.repeat(300_000) },
  ])(
    'a $size known file is trusted by its stamp only if it was left alone before the read, and since',
    async ({ rest }) => {
      let laterMs = 0;
      const clock = { ...systemClock, now: () => systemClock.now() + laterMs };
      const fingerprints = createFingerprints({ project: { ...p.project, clock }, stateDir: p.stateDir, exec });
      const value = async () => {
        fingerprints.touched();
        const found = await fingerprints.resolve('file:x', { ownOutputs: [] });
        return 'failed' in found ? found.failed : found.value.value;
      };
      const old = new Date(Date.now() - 3_600_000);
      const write = (text: string) => {
        p.write('x', text + rest);
        utimesSync(join(p.root, 'x'), old, old);
      };
      for (laterMs of [0, 10_000]) {
        for (const text of ['one', 'two', 'six', 'one']) {
          write(text);
          expect(await value()).toBe(sha256Hex(text + rest));
          expect(await value()).toBe(sha256Hex(text + rest));
        }
      }
      // Within a tick of the clock a second edit has the same stamp as the first: a file that young is read again.
      laterMs = 0;
      write('one');
      const fd = openSync(join(p.root, 'x'), 'r+');
      for (let i = 0; i < 200; i++) {
        const text = i % 2 === 0 ? 'two' : 'one';
        writeSync(fd, text, 0);
        expect(await value()).toBe(sha256Hex(text + rest));
      }
      closeSync(fd);
      rmSync(join(p.root, 'x'));
      expect(await value()).toBe(null);
    },
  );

  test.skipIf(!COUNTS_BYTES)('a large file is read once, by this process or an earlier one', async () => {
    const clock = { ...systemClock, now: () => systemClock.now() + 10_000 };
    const megabyte = 1024 ** 2;
    const readNow = async () => {
      const before = bytesRead();
      const project = { ...p.project, clock };
      const stats = new KnownStats(project);
      const { resolve } = createFingerprints({ project, stateDir: p.stateDir, exec, stats });
      const found = await resolve('file:x', { ownOutputs: [] });
      stats.flush();
      return { value: 'value' in found && found.value.value, isRead: bytesRead() - before > 4 * megabyte };
    };
    for (const letter of ['a', 'b']) {
      const content = Buffer.alloc(5 * megabyte, letter);
      p.write('x', content);
      const value = sha256Hex(content);
      expect(await readNow()).toEqual({ value, isRead: true });
      expect(await readNow()).toEqual({ value, isRead: false });
    }
  });

  test("the phase's own output is no input of it", async () => {
    const before = await p.value('file:out.txt', ['out.txt']);
    p.write('out.txt', 'x');
    expect(await p.value('file:out.txt', ['out.txt'])).toBe(before);
  });
});

describe('env:', () => {
  test('unset and empty differ', async () => {
    expect(await p.value('env:X')).toBe(null);
    p.env['X'] = '';
    expect(await p.value('env:X')).toBe('');
    p.env['X'] = 'v';
    expect(await p.value('env:X')).toBe('v');
  });
});

describe('cmd:', () => {
  test('is stdout and exit status, whole', async () => {
    expect(await p.value('cmd:echo hi')).toEqual({ exitCode: 0, stdout: 'hi\n' });
    expect(await p.value(`cmd:node -e "process.exitCode = 3"`)).toEqual({ exitCode: 3, stdout: '' });
    const long = `cmd:node -e "process.stdout.write('x'.repeat(2e6) + LAST)"`;
    expect(await p.value(long.replace('LAST', '1'))).not.toEqual(await p.value(long.replace('LAST', '2')));
  });

  test('a program that is not there, or is killed, has no value', async () => {
    expect(await p.value('cmd:no-such-program-here')).toMatch(/^failed: no-such-program-here failed/);
    expect(await p.value('cmd:sh -c "kill -9 $$"')).toMatch(/^failed/);
  });

  test('is not run in a dry run', async () => {
    const resolver = p.fingerprints({ runCommands: false });
    expect(await resolver.resolve('cmd:touch ran', { ownOutputs: [] })).toHaveProperty('failed');
    expect(await p.value('file:ran')).toBe(null);
  });

  test('runs in the given folder', async () => {
    mkdirSync(join(p.root, 'dir'));
    const result = await p.fingerprints().resolve('cmd:pwd', { cwd: join(p.root, 'dir'), ownOutputs: [] });
    expect(result).toMatchObject({ value: { value: { stdout: `${join(p.root, 'dir')}\n` } } });
  });
});

describe('a resolved value', () => {
  test('is good until something executed, and asked for once', async () => {
    let asked = 0;
    const resolver = p.fingerprints({
      exec: (argv, cwd) => {
        asked += 1;
        return exec(argv, cwd);
      },
    });
    const ask = async () => {
      const result = await resolver.resolve('cmd:cat f', { ownOutputs: [] });
      return 'value' in result && (result.value.value as { stdout: string }).stdout;
    };
    p.write('f', '1');
    await Promise.all([ask(), ask()]);
    p.write('f', '2');
    expect(await ask()).toBe('1');
    expect(asked).toBe(1);
    resolver.touched();
    expect(await ask()).toBe('2');
  });

  test('a value asked for before something executed does not last beyond it', async () => {
    const resolver = p.fingerprints();
    p.write('f', '1');
    const early = resolver.resolve('cmd:cat f', { ownOutputs: [] });
    resolver.touched();
    await early;
    p.write('f', '2');
    expect(await resolver.resolve('cmd:cat f', { ownOutputs: [] })).toMatchObject({
      value: { value: { stdout: '2' } },
    });
  });

  test('a probe that fails twice is never a value', async () => {
    rmSync(join(p.root, 'gone'), { force: true });
    for (const entry of ['git:nope', 'cmd:no-such-program', 'what:ever', 'glob:../x', 'file:..']) {
      p.write('.git', 'broken');
      expect(await p.value(entry), entry).toMatch(/^failed/);
      expect(await p.value(entry), entry).toMatch(/^failed/);
    }
  });
});

describe('what an entry may say', () => {
  test.each([
    'src',
    'git',
    'GIT:HEAD',
    'mtime:x',
    '',
    'git:',
    'glob: ',
    'env:',
    'cmd:',
    'git:--upload-pack=x',
    'git:a b',
  ])('%j is refused with advice', (entry) => {
    expect(parseFingerprint(entry)).toMatchObject({ problem: expect.any(String), hint: expect.any(String) });
  });
  test.each([
    'glob:/etc/*',
    'glob:a/../../x',
    'file:~/x',
    'file:C:/x',
    'glob:!src',
    'env:A=b',
    'cmd:echo "x',
    'file:a\0b',
  ])('%j is refused', (entry) => {
    expect(parseFingerprint(entry)).toHaveProperty('problem');
  });
  test.each([
    'git:HEAD',
    'git:worktree',
    'git:origin/main',
    'glob:src/**/*.{ts,tsx}',
    'glob!:a..b/*',
    'file:a/b',
    'env:X',
  ])('%j is fine', (entry) => {
    expect(parseFingerprint(entry)).toHaveProperty('ok');
  });
  test('the words of a command hold together, also when placeholders are filled in', () => {
    const words = (entry: string) => (parseFingerprint(entry) as unknown as { ok: { argv: string[] } }).ok.argv;
    expect(words(`cmd:git log "--format=%H %s" 'a\\b' c\\ d ""`)).toEqual([
      'git',
      'log',
      '--format=%H %s',
      'a\\b',
      'c d',
      '',
    ]);
    const rendered = renderFingerprint('cmd:ls {item}', (text) => text.replace('{item}', 'a b; "rm" -rf'));
    expect(words(rendered)).toEqual(['ls', 'a b; "rm" -rf']);
    expect(renderFingerprint('file:{item}', (text) => text.replace('{item}', 'x'))).toBe('file:x');
  });
});
