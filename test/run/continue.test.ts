import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/model/event.js';
import type { RunResult } from '../../src/run/core/result.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig({}, 'auto');
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'again', ...more, phases });
/** Fails until there is a file `ok` beside the project: nothing in the project changes. */
const shaky = (id: string, more: object = {}) => ({
  id,
  type: 'script',
  run: `bin/tick ${id} said ${id}; test -e ../ok`,
  ...more,
});
const agent = (id: string, task: string, more: object = {}) => ({ id, type: 'agent', task, ...more });
const repair = () => rig.write('../ok', '');
const journal = (result: RunResult) =>
  readFileSync(join(rig.root, '.pi/taskflows/runs', result.runId, 'journal.jsonl'), 'utf8');

describe('a run that did not end well is continued by the next one', () => {
  const phases = [
    ticking('a'),
    ticking('b', { dependsOn: ['a'] }),
    shaky('c', { dependsOn: ['b'] }),
    ticking('d', { dependsOn: ['c'] }),
  ];

  it('after a failure: what is done is kept, the old journal is not touched', async () => {
    const first = await rig.run(flow(phases));
    expect(first.status).toBe('failed');
    const before = journal(first);
    rig.forget();
    repair();
    const second = await rig.run(flow(phases));
    expect(second).toMatchObject({ status: 'success', continues: first.runId });
    expect(second.reuse).toEqual({ executed: 2, run: 2, crossRun: 0 });
    expect(rig.counts()).toEqual({ c: 1, d: 1 });
    expect(journal(first)).toBe(before);
  });

  it('a journal is complete in itself: the run after next needs only the one before it', async () => {
    const first = await rig.run(flow(phases));
    const second = await rig.run(flow(phases));
    expect(second.continues).toBe(first.runId);
    rig.forget();
    repair();
    const { rmSync } = await import('node:fs');
    rmSync(join(rig.root, '.pi/taskflows/runs', first.runId), { recursive: true });
    const third = await rig.run(flow(phases));
    expect(third.continues).toBe(second.runId);
    expect(rig.counts()).toEqual({ c: 1, d: 1 });
  });

  it('journals do not grow with every run that continues', async () => {
    const sizes: number[] = [];
    for (let round = 0; round < 5; round++) sizes.push(journal(await rig.run(flow(phases))).length);
    expect(sizes[4]! - sizes[1]!).toBeLessThan(200);
  });

  it('after an interrupt: what finished is kept, what was under way runs again', async () => {
    const slow = [ticking('a'), { id: 'b', type: 'script', run: 'bin/tick b; test -e ../ok || sleep 60' }];
    const stop = new AbortController();
    let isDone = false;
    const onEvent = (event: RunEvent) => {
      isDone ||= event.type === 'phase-end' && event.phase === 'a';
    };
    const handle = await rig.start(flow(slow), { signal: stop.signal, onEvent });
    while (rig.executions().length < 2 || !isDone) await pause(5);
    stop.abort();
    expect((await handle.result).status).toBe('interrupted');
    rig.forget();
    repair();
    const second = await rig.run(flow(slow));
    expect(second.status).toBe('success');
    expect(rig.counts()).toEqual({ b: 1 });
  });

  it('after a gate blocked: upstream is kept, the gate is judged again', async () => {
    const gated = [ticking('a'), { id: 'g', type: 'gate', dependsOn: ['a'], task: 'NAME: judge\nSAY: VERDICT: BLOCK' }];
    expect((await rig.run(flow(gated))).status).toBe('blocked');
    const second = await rig.run(flow(gated));
    expect(second.status).toBe('blocked');
    expect(rig.counts()).toEqual({ a: 1, judge: 2 });
    expect(second.error?.hint).toContain('--rerun a');
  });

  it('a gate that passed is judged again when a run continues by itself, and kept when it is resumed', async () => {
    const gated = [
      ticking('a'),
      { id: 'g', type: 'gate', dependsOn: ['a'], task: 'NAME: judge\nSAY: VERDICT: PASS' },
      shaky('c', { dependsOn: ['g'] }),
    ];
    const first = await rig.run(flow(gated));
    expect(rig.counts()).toEqual({ a: 1, judge: 1, c: 1 });
    const second = await rig.run(flow(gated));
    expect(rig.counts()).toEqual({ a: 1, judge: 2, c: 2 });
    repair();
    const third = await rig.run(flow(gated), { continuation: { how: 'resume', runId: first.runId } });
    expect(third).toMatchObject({ status: 'success', continues: second.runId });
    expect(rig.counts()).toEqual({ a: 1, judge: 2, c: 3 });
  });
});

describe('what is reused', () => {
  const first = (more: object[] = []) => [
    ticking('a', {}, 'A'),
    ticking('b', {}, 'B of {steps.a.output}'),
    ticking('c', {}, 'C of {steps.a.output}'),
    ticking('d', {}, 'D of {steps.b.output}'),
    shaky('end', { dependsOn: ['c', 'd'] }),
    ...more,
  ];

  it('an edited phase runs again, and only what is downstream of a changed output', async () => {
    await rig.run(flow(first()));
    rig.forget();
    const edited = first();
    edited[1] = ticking('b', {}, 'other B of {steps.a.output}');
    const second = await rig.run(flow(edited));
    expect(rig.counts()).toEqual({ b: 1, d: 1, end: 1 });
    expect(phaseOf(second, 'd').output).toBe('D of other B of A');
  });

  it('below a phase that ran again everything runs, whatever it says, except what declares its inputs', async () => {
    const declared = ticking('e', { cache: { fingerprint: ['file:bin/tick'] } }, 'E of {steps.b.output}');
    await rig.run(flow([...first(), declared]));
    rig.forget();
    const edited = [...first(), declared];
    edited[1] = { id: 'b', type: 'script', run: ['bin/tick', 'b', 'B', 'of', '{steps.a.output}'] };
    const second = await rig.run(flow(edited), { keepGoing: true });
    expect(rig.counts()).toEqual({ b: 1, d: 1, end: 1 });
    expect(phaseOf(second, 'd').reason).toBe('b ran again');
  });

  it('cosmetic edits execute nothing', async () => {
    await rig.run(flow(first()));
    rig.forget();
    const edited = first().map((phase) => ({ description: 'new words', ...phase, timeout: '3m', retry: { max: 0 } }));
    await rig.run(flow(edited, { description: 'more words', concurrency: 3 }));
    expect(rig.counts()).toEqual({ end: 1 });
  });

  it('what declares no inputs runs again when files of the project changed', async () => {
    rig.write('data.txt', '1');
    const phases = [
      ticking('plain'),
      ticking('declared', { cache: { fingerprint: ['file:bin/tick'] } }),
      // Of an agent that is observed, it is known that it did not look at what changed.
      agent('thinks', 'NAME: thinks\nSAY: so', { cache: { observe: 'off' } }),
      { id: 'm', type: 'map', over: ['x'], run: ['bin/tick', 'item', '{item}'] },
      { id: 'r', type: 'race', branches: [{ run: ['bin/tick', 'racer', 'r'] }, { run: 'sleep 20; bin/tick never' }] },
      ticking('effect', { idempotent: false }),
      shaky('end', { dependsOn: ['plain', 'declared', 'thinks', 'm', 'r', 'effect'] }),
    ];
    await rig.run(flow(phases));
    const all = { plain: 1, declared: 1, thinks: 1, item: 1, racer: 1, effect: 1, end: 1 };
    expect(rig.counts()).toEqual(all);
    await rig.run(flow(phases));
    expect(rig.counts()).toEqual({ ...all, end: 2 });
    rig.write('data.txt', '2');
    await rig.run(flow(phases));
    expect(rig.counts()).toEqual({ ...all, end: 3, plain: 2, thinks: 2, item: 2, racer: 2 });
  });

  it('a file that a script itself wrote during the run is no change, not even at its very end', async () => {
    const phases = [
      { id: 'w', type: 'script', run: 'bin/tick w; echo x > made.txt' },
      ticking('later', { dependsOn: ['w'] }),
      { id: 'end', type: 'script', run: 'bin/tick end; echo x >> made.txt; exit 1', dependsOn: ['later'] },
    ];
    for (let round = 0; round < 5; round++) await rig.run(flow(phases));
    expect(rig.counts()).toEqual({ w: 1, later: 1, end: 5 });
  });

  it('a file that is edited in the moment in which the run has ended is one', async () => {
    const phases = [ticking('a'), shaky('end', { dependsOn: ['a'] })];
    rig.write('data.txt', '0');
    for (let round = 1; round <= 5; round++) {
      await rig.run(flow(phases));
      rig.write('data.txt', String(round));
    }
    expect(rig.counts()).toEqual({ a: 5, end: 5 });
  });

  it('of a map only the items that failed or never ran', async () => {
    const item = ['sh', '-c', 'bin/tick "$0"; test "$0" != c || test -e ../ok', '{item}'];
    const phases = (over: string[]) => [{ id: 'm', type: 'map', over, run: item }];
    await rig.run(flow(phases(['a', 'b', 'c', 'd'])));
    rig.forget();
    repair();
    const second = await rig.run(flow(phases(['d', 'e', 'c', 'a', 'b'])));
    expect(second.status).toBe('success');
    expect(rig.counts()).toEqual({ c: 1, e: 1 });
    expect(phaseOf(second, 'm').items).toEqual({ total: 5, executed: 2, reused: 3, failed: 0 });
  });

  it('items that come to the same are told apart by a number, not taken for one', async () => {
    const phases = (over: object[]) => [
      { id: 'm', type: 'map', over, run: ['bin/tick', 'item', '{item.name}'] },
      { id: 'p', type: 'parallel', branches: [{ run: ['bin/tick', 'branch'] }, { run: ['bin/tick', 'branch'] }] },
      shaky('end', { dependsOn: ['m', 'p'] }),
    ];
    const [a, b, c] = [1, 2, 3].map((id) => ({ id, name: 'same' })) as [object, object, object];
    await rig.run(flow(phases([a, b])));
    expect(rig.counts()).toEqual({ item: 2, branch: 2, end: 1 });
    await rig.run(flow(phases([b, c, a])));
    expect(rig.counts()).toEqual({ item: 3, branch: 2, end: 2 });
  });

  it('a finished loop or tournament is not repeated; a loop goes on after its completed iterations', async () => {
    rig.write(
      'bin/step',
      '#!/bin/sh\nn=$(cat | sed -n "s/^STEP //p" | head -n 1)\nbin/tick "step$n" > /dev/null\n' +
        'test "$n" != 3 || test -e ../ok || exit 1\necho "at $n"\n',
      0o755,
    );
    rig.write(
      '.pi/taskflows/config.yaml',
      'runner: rig\nrunners:\n  rig: { command: [bin/agent], format: text }\n' +
        '  step: { command: [bin/step], format: text }\n',
    );
    const phases = [
      {
        id: 't',
        type: 'tournament',
        task: 'NAME: variant\nSAY: v',
        variants: 2,
        judge: 'NAME: judge\nSAY: WINNER: 1',
      },
      { id: 'done', type: 'loop', task: 'NAME: twice\nSAY: same' },
      {
        id: 'l',
        type: 'loop',
        runner: 'step',
        task: 'STEP {loop.iteration}\nlast: {loop.lastOutput}',
        until: '{steps.l.output} == "at 5"',
        retry: { max: 0 },
      },
    ];
    expect((await rig.run(flow(phases, { concurrency: 1 }))).status).toBe('failed');
    expect(rig.counts()).toEqual({ variant: 2, judge: 1, twice: 2, step1: 1, step2: 1, step3: 1 });
    rig.forget();
    repair();
    const second = await rig.run(flow(phases, { concurrency: 1 }));
    expect(second.output).toBe('at 5');
    expect(rig.counts()).toEqual({ step3: 1, step4: 1, step5: 1 });
  });

  it('what only one nested flow has left to do', async () => {
    rig.write(
      '.pi/taskflows/one.json',
      JSON.stringify({
        name: 'one',
        args: { topic: {} },
        phases: [
          { id: 'first', type: 'script', run: ['bin/tick', 'first-{args.topic}', '1'] },
          {
            id: 'second',
            type: 'script',
            dependsOn: ['first'],
            run: ['sh', '-c', 'bin/tick "second-$0"; test "$0" != q || test -e ../ok', '{args.topic}'],
          },
        ],
      }),
    );
    const phases = [{ id: 'm', type: 'map', over: ['p', 'q'], use: 'one', with: { topic: '{item}' } }];
    await rig.run(flow(phases));
    rig.forget();
    repair();
    expect((await rig.run(flow(phases))).status).toBe('success');
    expect(rig.counts()).toEqual({ 'second-q': 1 });
  });
});

describe('when nothing is continued', () => {
  const phases = [ticking('a'), shaky('b', { dependsOn: ['a'] })];

  it('other arguments are another run; the first ones go on where they were', async () => {
    const withArgs = flow(phases, { args: { n: { default: '1' } } });
    const one = await rig.run(withArgs, { args: { n: '1' } });
    const two = await rig.run(withArgs, { args: { n: '2' } });
    expect(two.continues).toBeUndefined();
    expect(rig.counts()).toEqual({ a: 2, b: 2 });
    const again = await rig.run(withArgs, { args: { n: '1' } });
    expect(again.continues).toBe(one.runId);
  });

  it('a run that succeeded is not, unless asked to; --rerun asks to', async () => {
    repair();
    await rig.run(flow(phases));
    expect((await rig.run(flow(phases))).continues).toBeUndefined();
    expect(rig.counts()).toEqual({ a: 2, b: 2 });
    const third = await rig.run(flow(phases), { continuation: { how: 'auto', finished: true } });
    expect(third.reuse).toEqual({ executed: 0, run: 2, crossRun: 0 });
    await rig.run(flow(phases), { selection: { rerun: ['a'] } });
    expect(rig.counts()).toEqual({ a: 3, b: 3 });
  });

  it('not with --fresh, not without reuse, not when it is turned off, not when it is too long ago', async () => {
    const first = await rig.run(flow(phases));
    for (const options of [{ continuation: { how: 'fresh' } as const }, { reuse: 'off' as const }]) {
      expect((await rig.run(flow(phases), options)).continues).toBeUndefined();
    }
    expect(first.status).toBe('failed');
    const config = rig.read('.pi/taskflows/config.yaml');
    rig.write('.pi/taskflows/config.yaml', `${config}iteration: { enabled: false }\n`);
    expect((await rig.run(flow(phases))).continues).toBeUndefined();
    rig.write('.pi/taskflows/config.yaml', `${config}iteration: { ttl: 50ms }\n`);
    await pause(80);
    expect((await rig.run(flow(phases))).continues).toBeUndefined();
    rig.write('.pi/taskflows/config.yaml', config);
    expect((await rig.run(flow(phases))).continues).toBeDefined();
  });

  it('saved flows run by name never continue by themselves', async () => {
    rig.write('.pi/taskflows/again.json', JSON.stringify(flow(phases)));
    const { loadFlow, runFlow } = await import('../../src/index.js');
    const byName = async () => runFlow(rig.project, await loadFlow(rig.project, 'again')).result;
    await byName();
    expect((await byName()).continues).toBeUndefined();
    expect(rig.counts()).toEqual({ a: 2, b: 2 });
  });

  it('two files with the same flow are two flows', async () => {
    await rig.run(flow(phases), { file: 'one.json' });
    expect((await rig.run(flow(phases), { file: 'two.json' })).continues).toBeUndefined();
  });

  it('a failure of another kind of run (--frozen, a refused budget) does not lose what was done before', async () => {
    await rig.run(flow(phases));
    rig.forget();
    await expect(rig.run(flow(phases), { continuation: { how: 'resume', runId: 'nonsense' } })).rejects.toThrow();
    const priced = flow([...phases, agent('x', 'SAY: x', { dependsOn: ['b'] })], { budget: { maxUSD: 1 } });
    await expect(rig.run(priced)).rejects.toThrow(/does not report/);
    repair();
    await rig.run(flow(phases));
    expect(rig.counts()).toEqual({ b: 1 });
  });
});
