import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { phaseOf } from '../support/rig.js';
import { createMemoRig, cross, flow, kept, type MemoRig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const effect = (id: string, more: object = {}) => ({
  id,
  type: 'script',
  run: ['bin/tick', id],
  idempotent: false,
  ...more,
});
/** Fails until there is a file `ok`. */
const shaky = (dependsOn: string[]) => ({ id: 'end', type: 'script', run: 'bin/note end; test -e ok', dependsOn });

describe('side effects', () => {
  it('are not repeated by the run that continues, whatever their cache says, nor by a resumed one', async () => {
    const phases = [
      effect('send'),
      effect('off', { cache: { scope: 'off' } }),
      effect('items', { type: 'map', over: ['x'], run: ['bin/tick', 'items', '{item}'] }),
      shaky(['send', 'off', 'items']),
    ];
    await rig.run(flow(phases));
    expect(rig.counts()).toEqual({ send: 1, off: 1, items: 1, end: 1 });
    const second = await rig.run();
    expect(rig.counts()).toEqual({ send: 1, off: 1, items: 1, end: 2 });
    await rig.run(undefined, { continuation: { how: 'resume', runId: second.runId }, reuse: 'off' });
    expect(rig.counts()).toEqual({ send: 1, off: 1, items: 1, end: 3 });
  });

  it('happen in every new run: nothing across runs skips them', async () => {
    const phases = flow([kept('a'), effect('send', { dependsOn: ['a'] })], { incremental: true });
    expect(await rig.executed(phases)).toEqual({ a: 1, send: 1 });
    expect(await rig.executed()).toEqual({ send: 1 });
    expect(rig.entries()).toHaveLength(1);
  });

  it('inside of a nested flow and of a map of flows are not skipped by a hit around them', async () => {
    rig.write(
      '.pi/taskflows/sub.json',
      JSON.stringify({ name: 'sub', phases: [kept('a'), effect('send', { dependsOn: ['a'] })] }),
    );
    const phases = flow(
      [
        { id: 'f', type: 'flow', use: 'sub' },
        { id: 'm', type: 'map', over: [1, 2], use: 'sub' },
      ],
      { incremental: true },
    );
    expect(await rig.executed(phases)).toEqual({ a: 1, send: 3 });
    expect(await rig.executed()).toEqual({ send: 3 });
  });

  it('each row or item has its own, though everything about them is equal', async () => {
    expect(
      await rig.executed(flow([effect('m', { type: 'map', over: ['x', 'x', 'x'], run: ['bin/tick', 'm', '{item}'] })])),
    ).toEqual({ m: 3 });
  });

  it('--rerun does one again, and nothing else', async () => {
    await rig.run(flow([effect('send'), effect('other'), shaky(['send', 'other'])]));
    rig.forget();
    await rig.run(undefined, { selection: { rerun: ['send'] } });
    expect(rig.counts()).toEqual({ send: 1, end: 1 });
  });
});

describe('only what is missing is paid for', () => {
  it('a map that is continued runs the items that failed or never ran', async () => {
    const run = 'bin/note "$I"; test "$I" != bad || test -e ok';
    const map = {
      id: 'm',
      type: 'map',
      over: ['a', 'bad', 'c'],
      run,
      env: { I: '{item}' },
      cache: { fingerprint: ['file:bin/note'] },
    };
    await rig.run(flow([map]));
    expect(rig.counts()).toEqual({ a: 1, bad: 1, c: 1 });
    rig.write('ok', '');
    rig.forget();
    const result = await rig.run();
    expect(rig.counts()).toEqual({ bad: 1 });
    expect(phaseOf(result, 'm').items).toEqual({ total: 3, executed: 1, reused: 2, failed: 0 });
  });

  it('a finished loop, race and tournament are not repeated by the run that continues', async () => {
    const phases = [
      { id: 'l', type: 'loop', task: 'NAME: l\nSAY: {loop.iteration}', maxIterations: 2, convergence: false },
      { id: 't', type: 'tournament', task: 'NAME: t\nSAY: x', variants: 2, judge: 'NAME: j\nSAY: WINNER: 1' },
      { id: 'r', type: 'race', branches: [{ task: 'NAME: r\nSAY: x' }, { run: 'sleep 5' }] },
      shaky(['l', 't', 'r']),
    ];
    await rig.run(flow(phases));
    rig.forget();
    await rig.run();
    expect(rig.counts()).toEqual({ end: 1 });
  });

  it('a loop that was interrupted goes on where it was', async () => {
    const task = 'NAME: l{loop.iteration}\nSAY: {loop.iteration}';
    const loop = {
      id: 'l',
      type: 'loop',
      task,
      maxIterations: 3,
      convergence: false,
      until: '{loop.iteration} == 9',
      cache: cross(),
    };
    const stop = new AbortController();
    rig.write(
      'bin/agent',
      `#!/bin/sh\nprompt=$(cat)\nname=$(printf '%s\\n' "$prompt" | sed -n 's/^NAME: //p')\nbin/note "$name"\n` +
        `if [ "$name" = l2 ] && ! test -e ok; then sleep 5; fi\nprintf '%s\\n' "$prompt" | sed -n 's/^SAY: //p'\n`,
    );
    const running = rig.run(flow([loop]), { signal: stop.signal });
    while (rig.counts()['l2'] === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort();
    expect((await running).status).toBe('interrupted');
    rig.write('ok', '');
    rig.forget();
    expect((await rig.run()).output).toBe('3');
    expect(rig.counts()).toEqual({ l2: 1, l3: 1 });
  });

  it('two phases that are the same but for what failed: a failure is never taken for a result', async () => {
    const phases = flow([{ id: 'a', type: 'script', run: 'bin/note a; test -e ok', cache: cross() }]);
    expect(await rig.executed(phases)).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({ a: 1 });
    rig.write('ok', '');
    expect(await rig.executed()).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({});
  });

  it('a ttl holds for results of the run that is continued as well', async () => {
    const phases = [kept('a', [], { cache: cross([], { ttl: '1h' }) }), shaky(['a'])];
    await rig.run(flow(phases));
    rig.forget();
    await rig.runAs({ laterMs: 30 * 60_000 });
    expect(rig.counts()).toEqual({ end: 1 });
    await rig.runAs({ laterMs: 2 * 3_600_000 });
    expect(rig.counts()).toEqual({ end: 2, a: 1 });
  });
});
