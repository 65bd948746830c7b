import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive } from '../../src/process/process-identity.js';
import { STRACE, traced } from '../support/traced.js';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const HAS_PYTHON =
  existsSync('/usr/bin/python3') || process.env['PATH']?.split(':').some((p) => existsSync(`${p}/python3`));

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'observe-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function files(all: Record<string, string>): void {
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

const sh = (script: string) => traced(root, ['sh', '-c', script]);
const node = (script: string) => traced(root, [process.execPath, '-e', script]);

describe.skipIf(STRACE === undefined)('what a program looks at', () => {
  it('a file that it reads, and nothing else', async () => {
    files({ 'a.txt': 'a', 'b.txt': 'b' });
    const { observed, stdout } = await sh('cat a.txt');
    expect(stdout.toString()).toBe('a');
    expect(observed).toEqual({ source: 'system', complete: true, reads: ['a.txt'], lists: [], absent: [], writes: [] });
  });

  it.skipIf(!existsSync('/dev/shm'))('a file of a project in memory', async () => {
    rmSync(root, { recursive: true });
    root = realpathSync(mkdtempSync('/dev/shm/observe-'));
    files({ 'a.txt': 'a' });
    expect((await sh('cat a.txt b.txt >/dev/null')).observed).toMatchObject({ reads: ['a.txt'], absent: ['b.txt'] });
  });

  it('a file that it looks for in vain', async () => {
    const { observed } = await sh('cat AGENTS.md docs/AGENTS.md; test -e x || true');
    expect(observed).toMatchObject({ complete: true, reads: [], absent: ['AGENTS.md', 'docs/AGENTS.md', 'x'] });
  });

  it('a folder that it lists, without its own names', async () => {
    files({ 'src/a.ts': '' });
    const { observed } = await sh('echo x > src/made.ts; ls src >/dev/null');
    expect(observed.lists).toEqual([{ path: 'src', own: ['made.ts'] }]);
    expect(observed.writes).toEqual(['src/made.ts']);
  });

  it('a file and a folder that it only checks: size and time count as content, a folder as being there', async () => {
    files({ 'a.txt': '', 'sub/x': '' });
    const { observed } = await sh('[ -s a.txt ]; [ -d sub ]');
    expect(observed).toMatchObject({ complete: true, reads: ['a.txt'], present: ['sub'], lists: [], absent: [] });
  });

  it('what it wrote itself is no input', async () => {
    const { observed } = await sh(
      'cat out.txt 2>/dev/null; echo x > out.txt; cat out.txt; mkdir d; echo > d/f; ls d; cat d/f',
    );
    expect(observed).toEqual({
      source: 'system',
      complete: true,
      reads: [],
      lists: [],
      absent: [],
      writes: ['d/f', 'out.txt'],
    });
  });

  it('what it reads and then writes is both; what it replaces unread is only written', async () => {
    files({ 'log.txt': '1', 'old.txt': '1', 'edit.txt': '1' });
    const { observed } = await sh('echo 2 >> log.txt; echo 2 > old.txt; cat edit.txt; echo 2 > edit.txt; cat old.txt');
    expect(observed.reads).toEqual(['edit.txt', 'log.txt']);
    expect(observed.writes).toEqual(['edit.txt', 'log.txt', 'old.txt']);
  });

  it('a file that came and went is none', async () => {
    const { observed } = await sh('echo x > tmp; cat tmp; rm tmp; echo y > part; mv part whole; mkdir t; rmdir t');
    expect(observed).toMatchObject({ complete: true, reads: [], writes: ['whole'] });
  });

  it('what it removes, moves and links', async () => {
    files({ gone: '1', from: '2', target: '3', 'dir/in': '4' });
    const { observed } = await sh(
      'rm gone; mv from to; ln target hard; ln -s target soft; mv dir moved; cat moved/in hard',
    );
    expect(observed.writes).toEqual(['dir', 'from', 'gone', 'hard', 'soft', 'to']);
    expect(observed.reads).toEqual(expect.arrayContaining(['from', 'target']));
    expect(observed.reads).not.toContain('moved/in');
  });

  it('own files keep being own ones in a folder that is moved', async () => {
    const { observed } = await sh('mkdir -p a/b; echo 1 > a/b/f; mv a z; cat z/b/f; ls z/b');
    expect(observed).toMatchObject({ reads: [], absent: [], lists: [], writes: ['z/b/f'] });
  });

  it('links on the way, and what they lead to', async () => {
    files({ 'real/deep/f': '1', 'target.txt': '2' });
    symlinkSync('real', join(root, 'link'));
    symlinkSync('link/deep', join(root, 'second'));
    symlinkSync('target.txt', join(root, 'file-link'));
    symlinkSync('nowhere', join(root, 'broken'));
    const { observed } = await sh('cat second/f file-link broken; [ -s link/deep/f ]; readlink broken');
    expect(observed.reads).toEqual(['broken', 'file-link', 'link', 'real/deep/f', 'second', 'target.txt']);
    expect(observed.absent).toEqual(['nowhere']);
  });

  it('programs of the project, and the interpreter in their first line', async () => {
    files({ 'bin/tool': `#!${root}/bin/shell\necho $1\n` });
    execFileSync('cp', ['/bin/sh', join(root, 'bin/shell')]);
    chmodSync(join(root, 'bin/tool'), 0o755);
    const { observed, stdout } = await traced(root, ['./bin/tool', 'hi']);
    expect(stdout.toString()).toBe('hi\n');
    expect(observed.reads).toEqual(['bin/shell', 'bin/tool']);
  });

  it('from whatever folder, in processes and threads of processes', async () => {
    files({ 'a/b/f': '1', 'a/g': '2', h: '3' });
    const { observed } = await sh(
      'cd a; (cd b && cat f; cat ../g) & wait; sh -c "cd .. && cat h nothing" ; cat b/none',
    );
    expect(observed).toMatchObject({ complete: true, reads: ['a/b/f', 'a/g', 'h'], absent: ['a/b/none', 'nothing'] });
  });

  it('a working folder that is gone', async () => {
    const { observed } = await sh('mkdir gone; cd gone; rmdir ../gone; cat f; ls; cd ..; cat g');
    expect(observed).toMatchObject({ complete: true, reads: [], absent: ['g'], writes: [] });
  });

  it('names with quotes, line ends, brackets, spaces and letters of all kinds', async () => {
    const names = [
      'a"b',
      "c'd",
      'e\nf',
      'g<h>i',
      'j\\k',
      'ü €',
      '日本',
      ') = 3',
      '-dash',
      'x, "y"',
      '{a',
      ' (deleted)',
      '\x01\x7f',
    ];
    files(Object.fromEntries(names.map((name) => [name, ''])));
    const { observed } = await traced(root, ['cat', '--', ...names]);
    expect(observed).toMatchObject({ complete: true, reads: [...names].sort() });
  });

  it('a name that is not UTF-8 cannot be named: not complete', async () => {
    const { observed } = await sh('printf x > "$(printf "bad\\377")"; cat bad*');
    expect(observed).toMatchObject({ complete: false, incomplete: 'the name of a file is not UTF-8' });
  });

  it('a name as long as they can be', async () => {
    const name = `${'ü'.repeat(127)}x`;
    const path = [name, name, name].join('/');
    files({ [path]: 'deep' });
    expect((await traced(root, ['cat', path])).observed.reads).toEqual([path]);
  });

  it('leaves out .git, node_modules, our own state and whatever is outside', async () => {
    files({
      '.git/HEAD': '',
      'node_modules/x/i.js': '',
      '.pi/taskflows/runs/r': '',
      '.pi/taskflows/f.yaml': '',
      a: '',
    });
    const { observed } = await sh(
      'cat .git/HEAD node_modules/x/i.js .pi/taskflows/runs/r .pi/taskflows/f.yaml /etc/passwd a',
    );
    expect(observed.reads).toEqual(['.pi/taskflows/f.yaml', 'a']);
  });
});

describe.skipIf(STRACE === undefined)('programs that people use', () => {
  it('find, cp -r and tar', async () => {
    files({ 'src/a': '1', 'src/deep/b': '2' });
    const found = await sh('find src -type f | sort');
    expect(found.observed.lists.map(({ path }) => path)).toEqual(['src', 'src/deep']);
    const copied = await sh('cp -r src copy');
    expect(copied.observed).toMatchObject({
      complete: true,
      reads: ['src/a', 'src/deep/b'],
      writes: ['copy/a', 'copy/deep/b'],
    });
    const packed = await sh('tar -cf out.tar src && tar -xf out.tar -C "$(mktemp -d -p .)"');
    expect(packed.observed.incomplete).toBeUndefined();
    expect(packed.observed).toMatchObject({ complete: true, reads: ['src/a', 'src/deep/b'] });
  });

  it('git: the files of the index', async () => {
    files({ 'a.txt': '1', 'sub/b.txt': '2' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    execFileSync('git', ['add', '.'], { cwd: root });
    const { observed } = await sh('git status --porcelain');
    expect(observed).toMatchObject({ complete: true, reads: ['a.txt', 'sub/b.txt'] });
    expect(observed.absent).toContain('.gitignore');
  });

  it('node: modules, folders, absent files, threads and promises', async () => {
    files({
      'lib/m.js': 'module.exports = 1',
      'data/x.json': '{}',
      'w.js': 'require("fs").readFileSync("by-thread")',
      'by-thread': '',
    });
    const { observed, failure } = await node(
      `require('./lib/m'); const fs = require('fs'); fs.readdirSync('data');
       fs.promises.readFile('data/x.json').then(() => new (require('worker_threads').Worker)('./w.js'));
       fs.existsSync('maybe')`,
    );
    expect(failure).toBeUndefined();
    expect(observed).toMatchObject({ complete: true, reads: ['by-thread', 'data/x.json', 'lib/m.js', 'w.js'] });
    expect(observed.lists).toEqual([{ path: 'data', own: [] }]);
    expect(observed.absent).toContain('maybe');
  });

  it('tsc: the sources that it compiles', async () => {
    files({
      'tsconfig.json':
        '{"compilerOptions":{"rootDir":"src","outDir":"out","types":[],"lib":["es5"]},"include":["src"]}',
      'src/a.ts': "import { b } from './b';\nexport const a = b;\n",
      'src/b.ts': 'export const b = 1;\n',
    });
    const { observed, failure } = await traced(root, [process.execPath, join(REPOSITORY, 'node_modules/.bin/tsc')]);
    expect(failure).toBeUndefined();
    expect(observed).toMatchObject({
      complete: true,
      reads: ['src/a.ts', 'src/b.ts', 'tsconfig.json'],
      writes: ['out/a.js', 'out/b.js'],
    });
    expect(observed.lists).toContainEqual({ path: 'src', own: [] });
    expect(observed.absent).toContain('package.json');
  });

  it.skipIf(!HAS_PYTHON)('python: directories by descriptor, and files passed between processes', async () => {
    files({ 'd/f': '1', 'd/sub/g': '2' });
    const { observed } = await traced(root, [
      'python3',
      '-c',
      `
import os, socket
folder = os.open('d', os.O_RDONLY)
os.listdir(folder)
a, b = socket.socketpair()
if os.fork() == 0:
    _, fds, _, _ = socket.recv_fds(b, 1, 1)
    os.chdir('/')
    os.close(os.open('sub/g', os.O_RDONLY, dir_fd=fds[0]))
    os._exit(0)
socket.send_fds(a, [b'x'], [folder])
os.wait()
os.fchdir(folder)
open('f').read()
`,
    ]);
    expect(observed.reads).toEqual(['d/f', 'd/sub/g']);
    expect(observed.lists).toContainEqual({ path: 'd', own: [] });
  });
});

describe.skipIf(STRACE === undefined)('what cannot be followed', () => {
  it('a daemon is ended with the rest, and what it did counts', async () => {
    files({ late: '1' });
    const { observed, stdout } = await sh(
      'setsid sh -c "echo \\$\\$; exec >/dev/null 2>&1; cat late; sleep 100" & sleep 0.3',
    );
    expect(isAlive({ pid: Number(stdout.toString()) })).toBe(false);
    expect(observed).toMatchObject({ complete: true, reads: ['late'] });
  });

  it('the tracer is killed: not complete', async () => {
    files({ a: '' });
    const { observed } = await sh('cat a; kill -9 $(grep TracerPid /proc/$$/status | cut -f2); sleep 0.2');
    expect(observed).toMatchObject({ complete: false, reads: ['a'] });
  });

  it('a program that traces others is told so, and said', async () => {
    const { observed, stdout } = await sh(`${STRACE} -o /dev/null true || echo failed`);
    expect(stdout.toString()).toBe('failed\n');
    expect(observed.complete).toBe(false);
  });

  it('io_uring is not there, so nothing is read through it', async () => {
    const source = join(root, 'ring.c');
    writeFileSync(
      source,
      ['sys/syscall.h', 'unistd.h', 'errno.h', 'stdio.h'].map((name) => `#include <${name}>\n`).join('') +
        'int main() { char p[256] = {0}; long r = syscall(425, 4, p); printf("%ld %d", r, errno); return 0; }\n',
    );
    try {
      execFileSync('cc', ['-o', join(root, 'ring'), source], { stdio: 'ignore' });
    } catch {
      return; // No compiler here.
    }
    const { stdout, observed } = await traced(root, ['./ring']);
    expect(stdout.toString()).toBe('-1 38');
    expect(observed.complete).toBe(true);
  });

  it('the program sees neither the trace nor another environment', async () => {
    const env = { PATH: process.env['PATH'], X: '1' };
    const script = 'env | sort; ls /proc/self/fd; ps -o ppid= -p $$ 2>/dev/null | tr -d " "; echo $PPID';
    const plain = await traced(root, ['sh', '-c', script], { env, trace: undefined as never });
    const seen = await traced(root, ['sh', '-c', script], { env });
    expect(seen.stdout.toString()).toBe(plain.stdout.toString());
  });
});
