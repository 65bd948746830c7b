import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tracesOf } from '../../src/cli/run/watch-own.js';
import type { RunResult } from '../../src/run/core/result.js';
import { runIds } from '../../src/run/history/runs-folder.js';
import { runCli } from '../support/cli.js';
import { startCli } from '../support/live-cli.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const once = { idempotent: false };
const flow = (phases: object[], more: object = {}) => ({ name: 'effects', ...more, phases });
const shaky = (id: string, more: object = {}) => ({
  id,
  type: 'script',
  run: `bin/tick ${id}; test -e ../ok`,
  ...more,
});
const slow = (id: string, more: object = {}) => ({
  id,
  type: 'script',
  run: `bin/tick ${id}; test -e ../ok || sleep 60`,
  ...more,
});
const repair = () => rig.write('../ok', '');

/** Runs the flow in a process of its own and kills it outright when all of these have been seen. */
async function crash(given: object, names: readonly string[], more: readonly string[] = []): Promise<void> {
  rig.write('flow.json', JSON.stringify(given));
  const live = startCli(['run', './flow.json', ...more], { cwd: rig.root });
  const end = Date.now() + 20_000;
  while (!names.every((name) => rig.executions().includes(name))) {
    if (Date.now() > end) throw new Error(`never saw ${names.join(', ')}: ${live.stderr()}`);
    await pause(5);
  }
  live.kill('SIGKILL');
  expect((await live.done).signal).toBe('SIGKILL');
}

async function cli(...args: string[]): Promise<{ status: number | null; result: RunResult }> {
  const { status, stdout, stderr } = await runCli(['run', './flow.json', '--json', ...args], { cwd: rig.root });
  if (stdout === '') throw new Error(stderr);
  return { status, result: JSON.parse(stdout) as RunResult };
}

describe('a side effect that is left out', () => {
  it('is not recorded as begun, so that a watch may start over', async () => {
    const left = ticking('send', { ...once, when: '1 == 2' });
    const { runId } = await rig.run(flow([left, ticking('other')]));
    expect(tracesOf(rig.project, runId).acted).toBe(false);
    const sent = await rig.run(flow([ticking('send', once), ticking('other')]));
    expect(tracesOf(rig.project, sent.runId).acted).toBe(true);
    expect(rig.counts()).toMatchObject({ send: 1 });
  });
});

describe('completed', () => {
  it('is not fired again: not on resume, not when the run continues, not when files changed', async () => {
    const phases = [ticking('send', once), shaky('end', { dependsOn: ['send'] })];
    const first = await rig.run(flow(phases));
    await rig.run(flow(phases));
    rig.write('changed.txt', 'x');
    await rig.run(flow(phases));
    await rig.run(flow(phases), { continuation: { how: 'resume', runId: first.runId } });
    expect(rig.counts()).toEqual({ send: 1, end: 4 });
  });

  it('edited, it is fired again only when a person says so', async () => {
    await rig.run(flow([ticking('send', once), shaky('end', { dependsOn: ['send'] })]));
    const edited = [ticking('send', once, 'another letter'), shaky('end', { dependsOn: ['send'] })];
    expect((await rig.run(flow(edited))).error).toMatchObject({ phase: 'send', code: 'in-doubt' });
    expect(rig.counts()['send']).toBe(1);
    await rig.run(flow(edited), { selection: { rerun: ['send'] } });
    expect(rig.counts()['send']).toBe(2);
    await rig.run(flow(edited), { selection: { rerun: ['send'] } });
    expect(rig.counts()['send']).toBe(3);
  });

  it('--rerun that fails is not answered with the earlier result the next time', async () => {
    const phases = [shaky('send', once), { id: 'end', type: 'script', run: 'exit 1', dependsOn: ['send'] }];
    repair();
    await rig.run(flow(phases));
    rmSync(join(rig.root, '../ok'));
    await rig.run(flow(phases), { selection: { rerun: ['send'] } });
    repair();
    await rig.run(flow(phases));
    expect(rig.counts()).toEqual({ send: 3 });
  });

  it('is done once in a run, however often the flow around it is tried', async () => {
    const inner = [
      ticking('send', once),
      { id: 'bad', type: 'script', run: 'bin/tick bad; exit 1', dependsOn: ['send'] },
    ];
    rig.write('sub.json', JSON.stringify({ name: 'sub', phases: inner }));
    const outer = [{ id: 'f', type: 'flow', use: './sub.json', retry: { max: 2, backoffMs: 1 } }];
    await rig.run(flow(outer));
    expect(rig.counts()).toEqual({ send: 1, bad: 3 });
    await rig.run(flow(outer), { selection: { rerun: ['f/send'] } });
    expect(rig.counts()).toEqual({ send: 2, bad: 6 });
  });

  it('counts although a fingerprint of it cannot be found out', async () => {
    const phases = [
      ticking('send', { ...once, cache: { fingerprint: ['git:HEAD', 'git:no-such-ref', 'file:bin'] } }),
      shaky('end', { dependsOn: ['send'] }),
    ];
    await rig.run(flow(phases));
    await rig.run(flow(phases));
    expect(rig.counts()).toEqual({ send: 1, end: 2 });
  });

  it('holds for everything inside of a phase that is not idempotent', async () => {
    rig.write('sub.json', JSON.stringify({ name: 'sub', phases: [ticking('inner'), ticking('inner2')] }));
    const phases = [{ id: 'f', type: 'flow', use: './sub.json', ...once }, shaky('end', { dependsOn: ['f'] })];
    await rig.run(flow(phases));
    rig.write('changed.txt', 'x');
    await rig.run(flow(phases));
    expect(rig.counts()).toEqual({ inner: 1, inner2: 1, end: 2 });
  });

  it('is never taken from another run, nor shared between nested flows that do the same', async () => {
    rig.write('.pi/taskflows/sub.json', JSON.stringify({ name: 'sub', phases: [ticking('send', once)] }));
    const result = await rig.run(flow([{ id: 'm', type: 'map', over: [1, 2, 3], use: 'sub' }]));
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({ send: 3 });
  });

  it('failed, it is not in doubt: it runs again, also two runs later', async () => {
    const phases = [shaky('send', once)];
    await rig.run(flow(phases));
    // The run between ends before it gets to it.
    await rig.run(
      flow([{ id: 'first', type: 'script', run: 'exit 1' }, shaky('send', { ...once, dependsOn: ['first'] })]),
    );
    repair();
    expect((await rig.run(flow(phases))).status).toBe('success');
    expect(rig.counts()).toEqual({ send: 2 });
  });
});

describe('under way when the process died', () => {
  const phases = [slow('send', once), ticking('after', { dependsOn: ['send'] })];

  it('stops and says what to type; nothing is fired, however often it is tried', async () => {
    await crash(flow(phases), ['send']);
    for (const _ of [1, 2, 3]) {
      const { status, result } = await cli();
      expect(status).toBe(4);
      expect(result.error).toMatchObject({ phase: 'send', code: 'in-doubt' });
      expect(result.error?.hint).toMatch(/--rerun send.*--skip send/);
      // Each of these runs continues the one before; it was the first in which it began.
      expect(result.error?.message).toContain(`was under way when run ${runIds(rig.project).at(-1)} ended`);
    }
    expect(rig.counts()).toEqual({ send: 1 });
  });

  it('--rerun does it again', async () => {
    await crash(flow(phases), ['send']);
    repair();
    expect((await cli('--rerun', 'send')).status).toBe(0);
    expect(rig.counts()).toEqual({ send: 2, after: 1 });
  });

  it('--skip takes it as done, for good', async () => {
    const later = [slow('send', once), shaky('after', { dependsOn: ['send'] })];
    await crash(flow(later), ['send']);
    const skipped = await runCli(['run', './flow.json', '--skip', 'send', '--json'], { cwd: rig.root });
    expect(skipped.status).toBe(1);
    // Nobody executed it in this run.
    const first = JSON.parse(skipped.stdout) as RunResult;
    expect(first.reuse).toEqual({ executed: 1, run: 0, crossRun: 0 });
    expect(phaseOf(first, 'send')).toMatchObject({ status: 'done', attempts: 0, reason: 'marked as done (--skip)' });
    expect(skipped.stderr).toMatch(/✔ send {2}marked as done \(--skip\)$/m);
    repair();
    const { status, result } = await cli();
    expect(status).toBe(0);
    expect(result.reuse).toEqual({ executed: 1, run: 1, crossRun: 0 });
    expect(rig.counts()).toEqual({ send: 1, after: 2 });
  });

  it('what only waited for its turn is not in doubt', async () => {
    const both = flow([slow('one', once), slow('two', once)], { concurrency: 1 });
    await crash(both, ['one']);
    repair();
    expect((await cli('--rerun', 'one')).status).toBe(0);
    expect(rig.counts()).toEqual({ one: 2, two: 1 });
  });

  it('an interrupt leaves it in doubt, too; what only waited for its turn is not', async () => {
    const both = [slow('one', once), slow('two', once)];
    rig.write('flow.json', JSON.stringify(flow(both, { concurrency: 1 })));
    const live = startCli(['run', './flow.json'], { cwd: rig.root });
    while (rig.executions().length === 0) await pause(5);
    live.kill('SIGINT');
    expect((await live.done).status).toBe(130);
    repair();
    const { result } = await cli('--rerun', 'one');
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({ one: 2, two: 1 });
  });

  it('a failure elsewhere leaves what only waited for its turn free to run', async () => {
    const both = [{ id: 'bad', type: 'script', run: 'sleep 0.2; test -e ../ok' }, ticking('send', once)];
    await rig.run(flow(both, { concurrency: 1 }));
    repair();
    expect((await rig.run(flow(both, { concurrency: 1 }))).status).toBe('success');
    expect(rig.counts()).toEqual({ send: 1 });
  });

  it('of a map: only the items that were under way are in doubt, and --rerun means those', async () => {
    const item = ['sh', '-c', 'bin/tick "$0"; case "$0" in [bc]) test -e ../ok || sleep 60; esac', '{item}'];
    const mapped = flow([{ id: 'm', type: 'map', over: ['a', 'b', 'c', 'd'], concurrency: 2, run: item, ...once }]);
    await crash(mapped, ['a', 'b', 'c']);
    const { result } = await cli();
    expect(result.error).toMatchObject({ phase: 'm', code: 'in-doubt' });
    repair();
    // `d` had not begun, so it ran at once; nothing of it is in doubt.
    expect(rig.counts()).toEqual({ a: 1, b: 1, c: 1, d: 1 });
    expect((await cli('--rerun', 'm')).status).toBe(0);
    expect(rig.counts()).toEqual({ a: 1, b: 2, c: 2, d: 1 });
  });

  it('of a map: --skip takes only those as done', async () => {
    const item = ['sh', '-c', 'bin/tick "$0" did "$0"; test -e ../ok || test "$0" = a || sleep 60', '{item}'];
    const mapped = flow([{ id: 'm', type: 'map', over: ['a', 'b', 'c'], concurrency: 1, run: item, ...once }]);
    await crash(mapped, ['b']);
    repair();
    const { result } = await cli('--skip', 'm');
    expect(result.status).toBe('success');
    expect(phaseOf(result, 'm').json).toEqual(['did a', '', 'did c']);
    expect(phaseOf(result, 'm').items).toEqual({ total: 3, executed: 1, reused: 1, failed: 0 });
    expect(rig.counts()).toEqual({ a: 1, b: 1, c: 1 });
  });

  it('of a map: each item in doubt can be decided about by itself', async () => {
    const item = [
      'sh',
      '-c',
      'bin/tick "$0" did "$0"; case "$0" in a) ;; *) test -e ../ok || sleep 60; esac',
      '{item}',
    ];
    const list = ['a', 'b', 'c', 'd'];
    const mapped = flow([{ id: 'm', type: 'map', over: list, concurrency: 3, run: item, ...once }]);
    await crash(mapped, list);
    repair();
    const told = (await cli()).result.error!;
    expect(told.message).toContain('3 of 4 failed; item 2 (b): m (item 2) is not idempotent');
    expect(told.message).toContain('(so are item 3, item 4)');
    expect(told.hint).toMatch(/--rerun "m\[2\]".*--skip "m\[2\]".*--rerun m and --skip m mean all/);
    const some = (await cli('--rerun', 'm[2]', '--skip', 'm[4]')).result;
    expect(some.error?.message).toContain('1 of 4 failed; item 3');
    expect(rig.counts()).toEqual({ a: 1, b: 2, c: 1, d: 1 });
    const { status, result } = await cli('--skip', 'm[3]');
    expect(status).toBe(0);
    expect(phaseOf(result, 'm').json).toEqual(['did a', 'did b', '', '']);
    const kept = (await cli('--iterate', '--rerun', 'm[1]')).result;
    expect(kept.warnings).toEqual([expect.stringContaining('m[1] is not in doubt, so its result is kept')]);
    expect(rig.counts()).toEqual({ a: 1, b: 2, c: 1, d: 1 });
  });

  it('of a map: what changed is compared in the detail; no line of it stands for the reason', async () => {
    const sends = (text: string) => {
      const item = ['sh', '-c', 'bin/tick "$0" did "$1"', '{item}', text];
      const end = { id: 'end', type: 'script', run: 'test -e ../ok', dependsOn: ['m'] };
      return flow([{ id: 'm', type: 'map', over: ['a', 'b'], run: item, ...once }, end]);
    };
    rig.write('flow.json', JSON.stringify(sends('one')));
    await cli();
    rig.write('flow.json', JSON.stringify(sends('two')));
    const { message, detail } = (await cli()).result.error!;
    expect(message).toMatch(/would now be something else \(so are item 2\)$/);
    expect(detail).toContain('"two"');
    expect(rig.counts()).toEqual({ a: 1, b: 1 });
  });

  it('of branches: each can be named; one that there is not is refused before anything is done', async () => {
    const branch = (id: string) => ({ id, run: ['sh', '-c', `bin/tick ${id}; test -e ../ok || sleep 60`] });
    await crash(flow([{ id: 'p', type: 'parallel', branches: [branch('mail'), branch('chat')], ...once }]), [
      'mail',
      'chat',
    ]);
    repair();
    const odd = (await cli('--rerun', 'p[post]')).result;
    expect(odd.error).toMatchObject({ code: 'bad-input', message: 'there is no p[post]' });
    expect(odd.error?.hint).toBe('It has p[mail], p[chat].');
    expect((await cli('--rerun', 'q[1]')).result.error?.message).toBe('the flow has no phase q[1]');
    expect(rig.counts()).toEqual({ mail: 1, chat: 1 });
    expect((await cli('--rerun', 'p[mail]', '--skip', 'p[chat]')).status).toBe(0);
    expect(rig.counts()).toEqual({ mail: 2, chat: 1 });
  });

  it('in a nested flow it is named by its path', async () => {
    rig.write(
      'sub.json',
      JSON.stringify({ name: 'sub', phases: [ticking('before'), slow('send', { ...once, dependsOn: ['before'] })] }),
    );
    await crash(flow([{ id: 'f', type: 'flow', use: './sub.json' }]), ['before', 'send']);
    const { result } = await cli();
    expect(result.error?.hint).toContain('--rerun f/send');
    repair();
    expect((await cli('--rerun', 'f/send')).status).toBe(0);
    expect(rig.counts()).toEqual({ before: 1, send: 2 });
  });

  it('a crash right after a torn line is read past', async () => {
    await crash(flow(phases), ['send']);
    const [runId] = runIds(rig.project);
    writeFileSync(join(rig.root, '.pi/taskflows/runs', runId!, 'journal.jsonl'), '{"type":"phase","at":1,"phase":"se', {
      flag: 'a',
    });
    expect((await cli()).result.error).toMatchObject({ code: 'in-doubt' });
    expect(rig.counts()).toEqual({ send: 1 });
  });
});
