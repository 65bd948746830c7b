import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { endLeftover, endSurvivors } from '../../src/process/end-tree.js';
import type { ChildIdentity, ProcessRequest } from '../../src/process/process.js';
import { holderIdentity, identityOf, isAlive } from '../../src/process/process-identity.js';
import { readProcessRow } from '../../src/process/process-table.js';
import { killAllNow, runProcess } from '../../src/process/run-process.js';
import { brand, killAll, until } from '../support/processes.js';

function sh(script: string, more: Partial<ProcessRequest> & { env: Record<string, string> }) {
  return runProcess({ argv: ['sh', '-c', script], cwd: '/', ...more });
}

/** Aborts as soon as so many branded processes live. */
function abortAt(count: number, live: () => number[]): AbortSignal {
  const abort = new AbortController();
  void until(() => live().length >= count).then(() => abort.abort());
  return abort.signal;
}

describe('when a process is stopped, so is', () => {
  test('a grandchild', async () => {
    const { env, live } = brand();
    const result = await sh('sh -c "sleep 60; :"; :', { env, signal: abortAt(3, live) });
    expect(result.failure?.code).toBe('interrupted');
    expect(live()).toEqual([]);
  });

  test('a descendant in a session of its own', async () => {
    const { env, live } = brand();
    await sh('setsid sh -c "sleep 60; :" & wait', { env, signal: abortAt(3, live) });
    expect(live()).toEqual([]);
  });

  test('the child of a descendant that left, when only its session leads to it', async () => {
    const { env, live } = brand();
    // The leader of the second session forks a sleeper whose parent then dies: session, not parent, is the link.
    const script = `setsid sh -c '(sleep 60 & ); sleep 61; :' & wait`;
    await sh(script, { env, signal: abortAt(3, live) });
    expect(live()).toEqual([]);
  });

  test('one that ignores TERM, after the grace', async () => {
    const { env, live } = brand();
    const startedAt = Date.now();
    const loop = 'while :; do sleep 0.1; done';
    const script = `trap '' TERM; setsid sh -c 'trap "" TERM; ${loop}' & ${loop}`;
    await sh(script, { env, timeoutMs: 150, graceMs: 200 });
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(350);
    expect(live()).toEqual([]);
  });

  test('with TERM alone where that is enough: a handler gets to finish', async () => {
    const { env } = brand();
    const result = await sh(`trap 'echo cleaned up; exit 0' TERM; echo ready; while :; do sleep 0.02; done`, {
      env,
      timeoutMs: 200,
    });
    expect(result.stdout.toString()).toBe('ready\ncleaned up\n');
    expect(result.failure?.code).toBe('timeout');
  });

  test('one that starts others while it is being ended', async () => {
    // Each newcomer is in a session of its own the moment after: whoever is missed then is never found again.
    const script = 'while :; do setsid sleep 60 & done';
    for (let round = 0; round < 8; round += 1) {
      const { env, live } = brand();
      await sh(script, { env, timeoutMs: 40, graceMs: 1_000 });
      const left = live();
      killAll(left);
      expect(left).toEqual([]);
    }
  });

  test('a stopped (SIGSTOP) one', async () => {
    const { env, live } = brand();
    await sh('kill -STOP $$', { env, timeoutMs: 100, graceMs: 100 });
    expect(live()).toEqual([]);
  });
});

describe('when a process ends by itself', () => {
  test('what it left in the background is ended, and its own result counts', async () => {
    const { env, live } = brand();
    const result = await sh('sleep 60 & echo done', { env });
    expect(result.failure).toBeUndefined();
    expect(result.stdout.toString()).toBe('done\n');
    expect(live()).toEqual([]);
  });

  test('a pipe held open by one that fled does not hang the result', async () => {
    const { env, live } = brand();
    const startedAt = Date.now();
    const result = await sh('setsid sleep 60 & sleep 0.1; echo done', { env });
    expect(result.stdout.toString()).toBe('done\n');
    expect(Date.now() - startedAt).toBeLessThan(5_000);
    killAll(live());
  });

  test('one that fled and keeps writing does not hang the result either', async () => {
    const { env, live } = brand();
    const startedAt = Date.now();
    await sh('setsid sh -c "while :; do echo x; sleep 0.02; done" & sleep 0.1; echo done', { env });
    expect(Date.now() - startedAt).toBeLessThan(8_000);
    killAll(live());
  });

  test('nor one that fled and floods the pipe', async () => {
    const { env, live } = brand();
    const startedAt = Date.now();
    const result = await sh('setsid yes & sleep 0.1; echo done', { env });
    expect(Date.now() - startedAt).toBeLessThan(8_000);
    expect(result.stdout.length).toBeLessThan(500 * 1024 ** 2);
    killAll(live());
  });

  test('marked: even one that fled, lost its parent and closed its streams is ended', async () => {
    const { env, live } = brand();
    const result = await sh('(setsid sleep 60 </dev/null >/dev/null 2>&1 &); echo done', { env, marked: true });
    expect(result.stdout.toString()).toBe('done\n');
    expect(live()).toEqual([]);
  });

  test('marked: of several at a time, each ends its own, and those of the others live on', async () => {
    const fled = '(setsid sleep 60 </dev/null >/dev/null 2>&1 &)';
    const slow = Array.from({ length: 3 }, () => brand());
    const abort = new AbortController();
    const pending = slow.map(({ env }) => sh(`${fled}; sleep 61; :`, { env, marked: true, signal: abort.signal }));
    await until(() => slow.every(({ live }) => live().length === 3));
    for (let round = 0; round < 5; round += 1) {
      const { env, live } = brand();
      await sh(`${fled}; echo done`, { env, marked: true });
      expect(live()).toEqual([]);
      expect(slow.map((one) => one.live().length)).toEqual([3, 3, 3]);
    }
    abort.abort();
    await Promise.all(pending);
    expect(slow.flatMap(({ live }) => live())).toEqual([]);
  });

  test('what it still says, word by word, is read', async () => {
    const { env } = brand();
    const words = Array.from({ length: 15 }, (_, word) => word + 1);
    const script = `setsid sh -c "for i in ${words.join(' ')}; do sleep 0.03; echo \\$i; done" & sleep 0.02; echo 0`;
    expect((await sh(script, { env })).stdout.toString()).toBe(`0\n${words.join('\n')}\n`);
  });

  test('what comes while this process is busy does not pass for silence', async () => {
    const { env } = brand();
    let ended = () => {};
    const firstWord = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const script = 'setsid sh -c "sleep 0.25; echo last" & sleep 0.1; echo first';
    const pending = sh(script, {
      env,
      onStdout: () => {
        ended();
        return undefined;
      },
    });
    await firstWord;
    await new Promise((resolve) => setTimeout(resolve, 20));
    // From here, timers that are due run before anything is read.
    await new Promise((resolve) => setImmediate(resolve));
    const end = Date.now() + 600;
    while (Date.now() < end);
    expect((await pending).stdout.toString()).toBe('first\nlast\n');
  });
});

test('killAllNow ends everything under way without waiting', async () => {
  const { env, live } = brand();
  const pending = sh(`trap '' TERM; setsid sleep 60 & while :; do sleep 0.1; done`, { env });
  await until(() => live().length >= 3);
  killAllNow();
  expect((await pending).failure).toMatchObject({ code: 'signal' });
  await until(() => live().length === 0);
});

describe('survivors of a crashed run', () => {
  /** A tree that nobody in this process attends. */
  async function orphanTree(script: string, processes: number) {
    const { env, live } = brand();
    const child = spawn('sh', ['-c', script], { env, detached: true, stdio: 'ignore' });
    const identity = identityOf(child.pid ?? -1);
    await until(() => live().length >= processes);
    return { identity, live };
  }

  test('are ended with all their descendants', async () => {
    const { identity, live } = await orphanTree('setsid sleep 60 & sleep 61', 3);
    expect(isAlive(identity)).toBe(true);
    await endLeftover(identity);
    expect(live()).toEqual([]);
    expect(isAlive(identity)).toBe(false);
  });

  test('are found by their group when the first process is dead', async () => {
    const { identity, live } = await orphanTree('sleep 60 & sleep 61 & exit', 2);
    await until(() => !isAlive(identity));
    await endLeftover(identity);
    expect(live()).toEqual([]);
  });

  test('are left alone when the id belongs to another process by now', async () => {
    const { identity, live } = await orphanTree('exec sleep 60', 1);
    const earlier: ChildIdentity = { ...identity, startTicks: (identity.startTicks ?? 0) - 1 };
    await endLeftover(earlier);
    expect(live().length).toBe(1);
    await endLeftover(identity);
    expect(live()).toEqual([]);
  });

  test("are not confused with a pipeline of someone else's shell that has the number as its group", async () => {
    const { env, live } = brand();
    // Job control puts the pipeline into a group of its own, led by a process that ends at once, in the shell's
    // session.
    const shell = spawn('bash', ['-c', 'set -m; sleep 0.05 | sleep 60 & echo "$(jobs -p)"; wait'], {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line] = (await once(shell.stdout, 'data')) as [Buffer];
    const leader = identityOf(Number(line.toString()));
    await until(() => !isAlive(leader) && readProcessRow(leader.pid) === undefined);
    await endLeftover(leader);
    expect(live().length).toBe(2);
    await endLeftover(identityOf(shell.pid ?? -1));
    expect(live()).toEqual([]);
  });

  test('are left alone when nothing but an id is known', async () => {
    const { identity, live } = await orphanTree('sleep 60 & exit', 1);
    await until(() => !isAlive(identity) && live().length === 1);
    await endLeftover({ pid: identity.pid });
    expect(live().length).toBe(1);
    await endLeftover(identity);
    expect(live()).toEqual([]);
  });

  test('are left alone when the run was on another machine, or before the last boot', async () => {
    const { identity, live } = await orphanTree('exec sleep 60', 1);
    await endSurvivors([identity], { ...holderIdentity(), host: 'elsewhere' });
    await endSurvivors([identity], { ...holderIdentity(), boot: 'earlier' });
    expect(live().length).toBe(1);
    await endSurvivors([identity], holderIdentity());
    expect(live()).toEqual([]);
  });
});
