import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChildIdentity, ProcessRequest } from '../../src/process/process.js';
import { runProcess } from '../../src/process/run-process.js';
import { brand } from '../support/processes.js';

/** What a process may rely on, whoever makes its pipes and whoever watches it (`always`). */
export function describeProcesses(always: (cwd: string) => Partial<ProcessRequest> = () => ({})): void {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'run-process-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function run(argv: string[], more: Partial<ProcessRequest> = {}) {
    return runProcess({ argv, cwd: folder, env: { PATH: process.env['PATH'] }, ...always(folder), ...more });
  }
  const sh = (script: string, more: Partial<ProcessRequest> = {}) => run(['sh', '-c', script], more);

  describe('what a process says', () => {
    test('stdout, the tail of stderr and the status come back', async () => {
      const result = await sh('printf out; printf err >&2; exit 3');
      expect(result.stdout.toString()).toBe('out');
      expect(result.stderrTail).toBe('err');
      expect(result.exitCode).toBe(3);
      expect(result.failure).toMatchObject({ code: 'exit', message: 'sh exited with status 3', detail: 'err' });
    });

    test('status 0 is no failure, whatever stood on stderr', async () => {
      const result = await sh('echo warning >&2');
      expect(result.failure).toBeUndefined();
      expect(result.exitCode).toBe(0);
    });

    test('a signal that was not ours is a failure that names it', async () => {
      const result = await sh('kill -SEGV $$');
      expect(result.failure).toMatchObject({ code: 'signal' });
      expect(result.failure?.message).toContain('SIGSEGV');
      expect(result.signal).toBe('SIGSEGV');
    });

    test('bytes that are not UTF-8 are kept as they are', async () => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
      const result = await run(['cat'], { input: bytes });
      expect(result.stdout.equals(bytes)).toBe(true);
    });

    test('50 MB of stdout arrive whole', async () => {
      const result = await sh('yes 0123456789abcde | head -c 52428800', { maxStdoutBytes: 64 * 1024 ** 2 });
      expect(result.stdout.length).toBe(52_428_800);
      expect(result.stdout.subarray(-16).toString()).toBe('0123456789abcde\n');
    });

    test('a flood of stderr is kept only in its tail, cut between characters', async () => {
      const result = await sh('yes ä | tr -d "\\n" | head -c 1000000 >&2; printf "the end" >&2');
      expect(Buffer.byteLength(result.stderrTail)).toBeLessThanOrEqual(8 * 1024);
      expect(result.stderrTail.startsWith('ä')).toBe(true);
      expect(result.stderrTail.endsWith('the end')).toBe(true);
    });

    test('chunks are passed on as they come, and need not be kept', async () => {
      let seen = 0;
      const result = await sh('head -c 100000 /dev/zero', {
        keepStdout: false,
        onStdout: (chunk) => {
          seen += chunk.length;
        },
      });
      expect(seen).toBe(100_000);
      expect(result.stdout.length).toBe(0);
    });
  });

  describe('stdin', () => {
    test('without input it is empty, so that a program which reads it does not wait', async () => {
      expect((await run(['cat'], { timeoutMs: 5_000 })).failure).toBeUndefined();
    });

    test('10 MB go in and come out', async () => {
      const input = 'x'.repeat(10_000_000);
      expect((await run(['cat'], { input })).stdout.length).toBe(10_000_000);
    });

    test('a program that does not read it is no failure', async () => {
      const result = await run(['true'], { input: 'x'.repeat(10_000_000) });
      expect(result.failure).toBeUndefined();
    });
  });

  describe('a program that cannot be started', () => {
    const cases: [name: string, argv: string[], more: Partial<ProcessRequest>, message: RegExp, hint: RegExp][] = [
      ['is not on PATH', ['no-such-program'], {}, /no-such-program: not found/, /installed, and on PATH/],
      ['is not there', ['./no/such'], {}, /not found/, /there is no .*no\/such/],
      ['is not executable', ['./plain'], {}, /permission denied/, /chmod \+x/],
      ['has no interpreter', ['./orphan'], {}, /not found/, /interpreter/],
      ['has no folder', ['true'], { cwd: '/no/such/folder' }, /\/no\/such\/folder does not exist/, /cwd/],
      ['has too long an argument', ['echo', 'x'.repeat(200_000)], {}, /too long/, /stdin/],
      ['holds a NUL byte', ['echo', 'a\0b'], {}, /NUL byte/, /stdin/],
    ];
    beforeAll(() => {
      writeFileSync(join(folder, 'plain'), 'no program', { mode: 0o644 });
      writeFileSync(join(folder, 'orphan'), '#!/no/such/interpreter\n', { mode: 0o755 });
    });
    test.each(cases)('that %s: a value that says why and what to do', async (_name, argv, more, message, hint) => {
      const result = await run(argv, more);
      expect(result.failure?.code).toBe('spawn');
      expect(result.failure?.message).toMatch(message);
      expect(result.failure?.hint).toMatch(hint);
      expect(result.exitCode).toBeNull();
    });

    test('because its folder is a file', async () => {
      const result = await run(['true'], { cwd: join(folder, 'plain') });
      expect(result.failure?.message).toContain('is not a folder');
    });

    test('because the argv is empty', async () => {
      expect((await run([])).failure?.code).toBe('spawn');
    });
  });

  describe('limits', () => {
    test('time: a process that takes too long is ended', async () => {
      const { env, live } = brand();
      const result = await run(['sleep', '60'], { env, timeoutMs: 50 });
      expect(result.failure?.code).toBe('timeout');
      expect(live()).toEqual([]);
    });

    test('silence: output on either stream keeps a process alive, its absence ends it', async () => {
      const chatty = await sh('for i in 1 2 3 4 5 6; do sleep 0.05; echo . >&2; done', { idleTimeoutMs: 200 });
      expect(chatty.failure).toBeUndefined();
      const silent = await sh('echo hello; sleep 60', { idleTimeoutMs: 200 });
      expect(silent.failure?.code).toBe('idle-timeout');
      expect(silent.stdout.toString()).toBe('hello\n');
    });

    test('a stopped process reports its stderr, like one that failed by itself', async () => {
      const slow = await sh('echo compiling >&2; sleep 60', { timeoutMs: 1_000 });
      expect(slow.failure).toMatchObject({ code: 'timeout', detail: 'compiling' });
      const silent = await sh('echo compiling >&2; sleep 60', { idleTimeoutMs: 1_000 });
      expect(silent.failure).toMatchObject({ code: 'idle-timeout', detail: 'compiling' });
    });

    test('a limit beyond what a timer can count does not end a process at once', async () => {
      const result = await run(['sleep', '0.05'], { timeoutMs: 2 ** 40 });
      expect(result.failure).toBeUndefined();
    });

    test('size: one that would fill the memory is ended', async () => {
      const { env, live } = brand();
      const result = await run(['yes'], { env, maxStdoutBytes: 3 * 1024 ** 2 });
      expect(result.failure).toMatchObject({ code: 'limit', message: 'the output is larger than 3 MB' });
      // What is cut is no output: nobody should take it for one.
      expect(result.stdout.length).toBe(0);
      expect(live()).toEqual([]);
    });

    test('an abort ends it; one that came before starts nothing', async () => {
      const { env, live } = brand();
      const abort = new AbortController();
      const started: ChildIdentity[] = [];
      const request = { env, signal: abort.signal, onStart: (child: ChildIdentity) => started.push(child) };
      setTimeout(() => abort.abort(), 50);
      expect((await run(['sleep', '60'], request)).failure?.code).toBe('interrupted');
      expect(live()).toEqual([]);
      expect((await run(['sleep', '60'], request)).failure?.code).toBe('interrupted');
      expect(started.length).toBe(1);
    });
  });

  test('200 at once under one signal keep their outputs apart, without a warning about listeners', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const { signal } = new AbortController();
    const results = await Promise.all(Array.from({ length: 200 }, (_, i) => run(['echo', `${i}`], { signal })));
    process.off('warning', warn);
    expect(warnings).toEqual([]);
    expect(results.map((result) => result.stdout.toString().trim())).toEqual(results.map((_, i) => `${i}`));
  });

  test('the start is announced once, with what distinguishes the process from a later one', async () => {
    const started: ChildIdentity[] = [];
    await run(['true'], { onStart: (child) => started.push(child) });
    expect(started).toHaveLength(1);
    expect(started[0]?.startTicks).toBeGreaterThan(0);
  });
}
