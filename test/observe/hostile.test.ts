import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Observer } from '../../src/observe/observer.js';
import { effort } from '../support/effort.js';
import { randomFrom } from '../support/random.js';
import { STRACE, traced } from '../support/traced.js';

let root: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'hostile-')));
  mkdirSync(join(root, 'd'));
  writeFileSync(join(root, 'a'), '');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function observe(trace: string | Buffer, isWhole = true, pieces = 1) {
  const observer = new Observer({ root, cwd: root, startedAt: 0 });
  const bytes = Buffer.from(trace);
  const size = Math.ceil(bytes.length / pieces);
  for (let at = 0; at < bytes.length; at += size) observer.add(bytes.subarray(at, at + size));
  return observer.end(isWhole);
}

const open = (name: string, result = '3') => `7 openat(AT_FDCWD<${root}>, "${name}", O_RDONLY) = ${result}\n`;
const END = '7 +++ exited with 0 +++\n';

describe('a trace', () => {
  it('is the same whatever pieces it comes in', () => {
    const found = `${open('a', `3<${root}/a>`)}${open('d', `3<${root}/d>`)}`;
    const trace = `${found}${open('b', '-1 ENOENT (No such file)')}${END}`;
    const whole = observe(trace);
    expect(whole).toMatchObject({ complete: true, reads: ['a'], absent: ['b'] });
    for (let pieces = 2; pieces <= trace.length; pieces += 7) expect(observe(trace, true, pieces)).toEqual(whole);
  });

  it('that was cut anywhere is not complete', () => {
    const child = '8 execve("d", [], 0x1) = -1 EACCES (x)\n8 +++ exited with 1 +++\n';
    const trace = `${open('a')}7 vfork( <unfinished ...>\n${child}7 <... vfork resumed>) = 8\n${END}`;
    for (let at = 0; at < trace.length; at += 1) expect(observe(trace.slice(0, at)).complete, `at ${at}`).toBe(false);
    expect(observe(trace, false).complete).toBe(false);
    expect(observe('').complete).toBe(false);
  });

  it('whose lines nobody understands is not complete', () => {
    for (const line of [
      'what',
      '7 ',
      '7 openat(',
      '7 openat(AT_FDCWD, "a',
      '7 <... open resumed>) = 0',
      '7 +++ left +++',
      '\0',
    ]) {
      expect(observe(`${open('a')}${line}\n${END}`).complete, JSON.stringify(line)).toBe(false);
    }
  });

  it('of calls that were interrupted by others belongs together by process', () => {
    const trace =
      `7 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 8\n` +
      `8 openat(AT_FDCWD<${root}>, "a", <unfinished ...>\n` +
      `7 access("x", F_OK <unfinished ...>\n8 <... openat resumed>O_RDONLY) = 3<${root}/a>\n` +
      `7 <... access resumed>) = -1 ENOENT (No such file or directory)\n` +
      `8 +++ killed by SIGSEGV (core dumped) +++\n${END}`;
    expect(observe(trace)).toMatchObject({ complete: true, reads: ['a'], absent: ['x'] });
  });

  it('goes on after a thread that was killed before its call had a name', () => {
    const thread = '7 clone3({flags=CLONE_VM|CLONE_FS|CLONE_THREAD, exit_signal=0}, 88) = 8\n8 ???( <unfinished ...>\n';
    const killed = '8 <... ??? resumed>) = ?\n8 +++ exited with 0 +++\n';
    const rest = `${open('a', `3<${root}/a>`)}${END}`;
    expect(observe(thread + killed + rest)).toMatchObject({ complete: true, reads: ['a'] });
    expect(observe(thread + killed.replace('?\n', '0\n') + rest).complete).toBe(false);
  });

  it('says what a process does before the call that started it returns', () => {
    const child = '8 access("x", F_OK) = -1 ENOENT (x)\n';
    const ends = `8 +++ exited with 0 +++\n${END}`;
    const trace = `7 chdir("d") = 0\n7 vfork( <unfinished ...>\n${child}7 <... vfork resumed>) = 8\n${ends}`;
    expect(observe(trace)).toMatchObject({ complete: true, absent: ['d/x'] });
  });

  it('shares the working folder of threads, and copies it for processes', () => {
    const thread =
      '7 clone3({flags=CLONE_VM|CLONE_FS, exit_signal=0}, 88) = 8\n' +
      '8 chdir("d") = 0\n7 access("x", F_OK) = -1 ENOENT (x)\n';
    const ends = `8 +++ exited with 0 +++\n${END}`;
    expect(observe(thread + ends).absent).toEqual(['d/x']);
    expect(observe(thread.replace('|CLONE_FS', '') + ends).absent).toEqual(['x']);
  });

  it('of a thread that executes a program goes on under the id of its process', () => {
    const trace =
      `7 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FS|CLONE_THREAD) = 8\n` +
      `8 execve("/bin/true", [], 0x1 <unfinished ...>\n` +
      `7 +++ superseded by execve in pid 8 +++\n7 <... execve resumed>) = 0\n${open('a', `3<${root}/a>`)}${END}`;
    expect(observe(trace)).toMatchObject({ complete: true, reads: ['a'] });
  });

  it('of a sandbox is read with the names that its processes use', () => {
    const calls = [
      '7 clone(child_stack=NULL, flags=CLONE_NEWNS|CLONE_NEWPID|SIGCHLD) = 8',
      '8 mount(NULL, "/", NULL, MS_REC|MS_SLAVE, NULL) = 0',
      '8 mount("tmpfs", "/tmp", ""..., MS_NOSUID, NULL) = 0',
      '8 chdir("/tmp") = 0',
      '8 mount("newroot", "newroot", NULL, MS_BIND|MS_REC, NULL) = 0',
      '8 pivot_root("/tmp", "oldroot") = 0',
      `8 mkdir("/newroot${root}/made-in-memory", 0777) = 0`,
      '8 mount("/oldroot/", "/newroot/", NULL, MS_BIND|MS_REC, NULL) = 0',
      `8 mount("/oldroot${root}/d", "/newroot/elsewhere", NULL, MS_BIND, NULL) = 0`,
      `8 mount("tmpfs", "/newroot${root}/hidden", ""..., MS_NOSUID, NULL) = 0`,
      '8 chdir("/newroot") = 0',
      '8 pivot_root(".", ".") = 0',
      `8 chdir("${root}") = 0`,
      "8 fork() = 2 /* 9 in strace's PID NS */",
      `9 openat(AT_FDCWD<${root}>, "a", O_RDONLY) = 3<${root}/a>`,
      '9 access("hidden/x", F_OK) = -1 ENOENT (x)',
      '9 access("/elsewhere/y", F_OK) = -1 ENOENT (x)',
      `9 access("z", F_OK) = -1 ENOENT (x)`,
      '9 +++ exited with 0 +++',
      '8 +++ exited with 0 +++',
    ];
    const observed = observe(`${calls.join('\n')}\n${END}`);
    expect(observed).toMatchObject({ complete: true, reads: ['a'], absent: ['d/y', 'z'], writes: [] });
  });

  it('cannot be forged by the name of a file', () => {
    const name = '\\") = 3</evil>\\n7 openat(AT_FDCWD, \\"b';
    expect(observe(`${open(name, '-1 ENOENT (x)')}${END}`).absent).toEqual(['") = 3</evil>\n7 openat(AT_FDCWD, "b']);
  });

  it('of a strace that names deleted files as if they were called so is not complete', () => {
    expect(observe(`${open('a', `3<${root}/a (deleted)>`)}${END}`).complete).toBe(false);
    expect(observe(`7 getdents64(3<${root}/d (deleted)>, 0x1, 32768) = 24\n${END}`).complete).toBe(false);
    expect(observe(`${open('/x', '3</x (deleted)>')}${END}`).complete).toBe(true);
  });

  it.each([
    ['chroot("/")', 'a process changed its root folder'],
    ['mount("a", "b", "c", 0, NULL)', 'a process mounted something'],
    ['open_by_handle_at(3, {}, O_RDONLY)', 'a process opened a file without naming it'],
    ['io_uring_setup(4, {})', 'a process used io_uring'],
    ['clone(child_stack=NULL, flags=CLONE_UNTRACED)', 'a process hid another one from the trace'],
  ])('with %s is not complete', (call, incomplete) => {
    const trace = `7 ${call} = 9\n9 +++ exited with 0 +++\n${END}`;
    expect(observe(trace)).toMatchObject({ complete: false, incomplete });
  });

  it('with a line of any length takes little memory', () => {
    const observer = new Observer({ root, cwd: root, startedAt: 0 });
    const before = process.memoryUsage().heapUsed;
    for (let times = 0; times < 2_000; times += 1) observer.add(Buffer.alloc(65_536, 'x'));
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 ** 2);
    expect(observer.end(true).complete).toBe(false);
  });

  it('of 100,000 files is read in a few seconds', () => {
    const lines: string[] = [];
    for (let at = 0; at < 100_000; at += 1) {
      const path = `${root}/d/${at % 100}/file-${at}`;
      lines.push(`7 openat(AT_FDCWD<${root}>, "d/${at % 100}/file-${at}", O_RDONLY|O_CLOEXEC) = 3<${path}>\n`);
    }
    const before = process.cpuUsage();
    const observed = observe(lines.join('') + END, true, 500);
    const { user, system } = process.cpuUsage(before);
    expect(observed.reads).toHaveLength(100_000);
    expect(observed.complete).toBe(true);
    expect((user + system) / 1e6).toBeLessThan(5);
  });

  it('of more files than anybody can keep is not complete', () => {
    const lines: string[] = [];
    for (let at = 0; at < 260_000; at += 1)
      lines.push(`7 openat(AT_FDCWD<${root}>, "f${at}", O_RDONLY) = 3<${root}/f${at}>\n`);
    expect(observe(lines.join('') + END)).toMatchObject({ complete: false, incomplete: 'it looked at too many files' });
  });

  it('of many renamed folders does not take for ever', () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `7 mkdir("m${at}", 0777) = 0\n`);
    for (let at = 0; at < 20_000; at += 1) lines.push(`7 rename("m${at}", "d") = 0\n`);
    const before = process.cpuUsage();
    observe(lines.join('') + END);
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(10);
  });
});

describe.skipIf(STRACE === undefined)('a real trace that was tampered with', () => {
  it('is never an exception, and never complete if it was cut', async () => {
    const recorded: Buffer[] = [];
    const { add } = Observer.prototype;
    Observer.prototype.add = function (chunk) {
      recorded.push(chunk);
      add.call(this, chunk);
    };
    await traced(root, ['sh', '-c', 'ls; cat a b; (cd d; cat c) & echo x > made; mv made d; wait; find . | sort']);
    Observer.prototype.add = add;
    const trace = Buffer.concat(recorded);
    expect(observe(trace).complete).toBe(true);
    const random = randomFrom(22);
    for (let times = 0; times < effort(300, 5_000); times += 1) {
      const changed = Buffer.from(trace);
      for (let flips = random.below(5); flips >= 0; flips -= 1)
        changed[random.below(changed.length)] = random.below(256);
      observe(changed);
      const cut = trace.subarray(0, random.below(trace.length - 1));
      expect(observe(cut).complete).toBe(false);
      const [from, to] = [random.below(trace.length), random.below(trace.length)];
      observe(Buffer.concat([trace.subarray(0, from), trace.subarray(to)]));
    }
  });
});
