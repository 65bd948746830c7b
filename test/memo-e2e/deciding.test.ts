import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFlow } from '../../src/index.js';
import { textOf } from '../support/output-text.js';
import { phaseOf } from '../support/rig.js';
import { createMemoRig, cross, flow, kept, type MemoRig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const gate = { id: 'g', type: 'gate', eval: ['1 == 1'] };
const approval = { id: 'g', type: 'approval', task: 'sure?' };
const effect = { id: 'g', type: 'script', run: ['bin/tick', 'g'], idempotent: false };
const never = { id: 'g', type: 'script', run: ['bin/tick', 'g'], cache: { scope: 'off' } };
const sub = (phase: object) => ({ name: 'sub', phases: [kept('work'), phase] });
const saved = (name: string, content: object) => rig.write(`.pi/taskflows/${name}.json`, JSON.stringify(content));

async function codes(phases: object[], more: object = {}): Promise<string[]> {
  rig.write('flow.json', JSON.stringify(flow(phases, more)));
  const { diagnostics } = await checkFlow(rig.project, './flow.json');
  return diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);
}

describe('refused when the flow is checked', () => {
  it.each([
    ['a gate', gate],
    ['an approval', approval],
    ['what is not idempotent', effect],
  ])('%s that is cross-run', async (_name, phase) => {
    expect(await codes([{ ...phase, cache: cross() }])).toEqual(['cross-run']);
  });

  describe.each([
    ['gate', gate],
    ['approval', approval],
    ['non-idempotent', effect],
    ['scope: off', never],
  ])('a %s', (_name, phase) => {
    it('in an inline flow, in a saved one, in one that a map uses, two levels down', async () => {
      saved('sub', sub(phase));
      saved('deeper', { name: 'deeper', phases: [{ id: 'f', type: 'flow', use: 'sub' }] });
      const cache = cross();
      expect(await codes([{ id: 'f', type: 'flow', def: sub(phase), cache }])).toEqual(['cross-run']);
      expect(await codes([{ id: 'f', type: 'flow', use: 'sub', cache }])).toEqual(['cross-run']);
      expect(await codes([{ id: 'm', type: 'map', over: [1], use: 'sub', cache }])).toEqual(['cross-run']);
      expect(await codes([{ id: 'm', type: 'map', over: [1], use: 'deeper', cache }])).toEqual(['cross-run']);
      expect(await codes([{ id: 'e', type: 'expand', def: sub(phase), cache }])).toEqual(['cross-run']);
    });

    it('is passed over by `incremental` and by `defaults`', async () => {
      saved('sub', sub(phase));
      const phases = [{ id: 'f', type: 'flow', use: 'sub' }, phase];
      expect(await codes(phases, { incremental: true })).toEqual([]);
      expect(await codes(phases, { defaults: { cache: cross() } })).toEqual([]);
    });
  });

  it('a sub-flow that gets its gate after the flow around it was checked', async () => {
    saved('sub', { name: 'sub', phases: [kept('work')] });
    const phases = [{ id: 'f', type: 'flow', use: 'sub', cache: cross() }];
    await rig.executed(flow(phases));
    saved('sub', sub(gate));
    expect(await codes(phases)).toEqual(['cross-run']);
  });
});

describe('refused again when it runs', () => {
  it('a flow whose name is known only at run time, with a gate inside: the gate judges in every run', async () => {
    saved('sub', {
      name: 'sub',
      phases: [kept('work'), { id: 'g', type: 'gate', task: 'NAME: judge\nSAY: VERDICT: PASS', dependsOn: ['work'] }],
    });
    const phases = [
      { id: 'which', type: 'script', run: ['printf', 'sub'] },
      { id: 'f', type: 'flow', use: '{steps.which.output}', cache: cross() },
      { id: 'm', type: 'map', over: ['sub'], use: '{item}', cache: cross() },
    ];
    expect(await rig.executed(flow(phases))).toMatchObject({ work: 1, judge: 2 });
    expect(await rig.executed()).toEqual({ judge: 2 });
  });

  it('a generated flow with an approval inside: the person is asked in every run', async () => {
    const def = {
      phases: [
        { id: 'a', type: 'agent', task: 'NAME: a' },
        { ...approval, dependsOn: ['a'] },
      ],
    };
    const phases = [
      { id: 'plan', type: 'script', run: ['printf', '%s', JSON.stringify(def)], output: 'json' },
      { id: 'f', type: 'flow', def: '{steps.plan.json}', cache: cross() },
    ];
    let asked = 0;
    const approve = async () => {
      asked += 1;
      return { decision: 'approve' as const };
    };
    expect((await rig.run(flow(phases), { approve })).status).toBe('success');
    expect((await rig.run(undefined, { approve })).status).toBe('success');
    expect(asked).toBe(2);
    expect(rig.counts()).toEqual({ a: 2 });
  });

  it('what stands below a gate that sent work back depends on what it passed in the end', async () => {
    // Each time first something bad, then something new that is good.
    const work = [
      'bin/note work; n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n',
      'test $((n % 2)) = 1 && echo bad || { echo good$n > product.txt; echo good$n; }',
    ];
    const w = { id: 'w', type: 'script', run: work.join('; '), cache: { ...cross(), ttl: '1s', observe: 'off' } };
    const g = { id: 'g', type: 'gate', eval: ['{steps.w.output} contains good'], onBlock: 'retry' };
    const e = {
      id: 'e',
      type: 'script',
      run: 'bin/note after; cat product.txt',
      dependsOn: ['g'],
      cache: { scope: 'cross-run', fingerprint: [] },
    };
    expect(await rig.executed(flow([w, g, e]))).toEqual({ work: 2, after: 1 });
    // Nothing has changed: the good one is still there, and so is what was made of it.
    expect(await rig.executed()).toEqual({});
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    rig.forget();
    const result = await rig.run();
    expect(rig.counts()).toEqual({ work: 2, after: 1 });
    expect(result.output).toBe('good4');
  });

  it('a resumed run keeps the verdict of a gate that had sent work back', async () => {
    const says = 'n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; test $n = 1 && echo BLOCK || echo PASS';
    const w = { id: 'w', type: 'script', run: `bin/note w; ${says}` };
    const g = { id: 'g', type: 'gate', task: 'NAME: judge\nSAY: VERDICT: {steps.w.output}', onBlock: 'retry' };
    const e = { id: 'e', type: 'script', run: 'bin/note e; exit 1', dependsOn: ['g'] };
    const failed = await rig.run(flow([w, g, e]));
    expect([failed.status, rig.counts()]).toEqual(['failed', { w: 2, judge: 2, e: 1 }]);
    rig.forget();
    await rig.run(undefined, { continuation: { how: 'resume', runId: failed.runId } });
    expect(rig.counts()).toEqual({ e: 1 });
  });

  it('gates and approvals themselves are decided in each run, however warm everything around them is', async () => {
    const judge = { id: 'g', type: 'gate', task: 'NAME: judge\nSAY: VERDICT: PASS', dependsOn: ['work'] };
    const phases = [kept('work'), judge, kept('after', [], { dependsOn: ['g'] })];
    expect(await rig.executed(flow(phases, { incremental: true }))).toEqual({ work: 1, judge: 1, after: 1 });
    expect(await rig.executed()).toEqual({ judge: 1 });
  });

  it('a gate in front of a cached phase still blocks it', async () => {
    const phases = [
      kept('work'),
      { id: 'g', type: 'gate', eval: ['{args.ok} == yes'], dependsOn: ['work'] },
      kept('after', [], { dependsOn: ['g'] }),
    ];
    const spec = { args: { ok: { default: 'yes' } } };
    await rig.executed(flow(phases, spec));
    const blocked = await rig.run(undefined, { args: { ok: 'no' } });
    expect(blocked.status).toBe('blocked');
    expect(phaseOf(blocked, 'after').status).toBe('cancelled');
  });
});

describe('onBlock: retry', () => {
  /** Says `bad` the first time it is executed and `good` ever after. */
  const moody = 'bin/note work; if test -e seen; then echo good; else touch seen; echo bad; fi';
  const judge = { id: 'g', type: 'gate', eval: ['{steps.work.output} == good'], onBlock: 'retry' };
  const work = { id: 'work', type: 'script', run: moody, cache: cross() };

  it('the upstream runs again without reading the store, and only what passed is in it', async () => {
    const result = await rig.run(flow([work, judge]));
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({ work: 2 });
    expect(rig.entries()).toHaveLength(1);
    expect(textOf(rig.entry().output)).toBe('good');
    expect(await rig.executed()).toEqual({});
  });

  it('what was rejected to the end is in no store, and is not served to the run that continues', async () => {
    // With a declared input: what declares none runs again anyway, once files have changed.
    const stubborn = { ...work, run: 'bin/note work; cat answer', cache: cross(['file:flow.json']) };
    rig.write('answer', 'bad');
    const blocked = await rig.run(flow([stubborn, judge]));
    expect(blocked.status).toBe('blocked');
    expect(rig.counts()).toEqual({ work: 2 });
    expect(rig.entries()).toEqual([]);
    rig.write('answer', 'good');
    rig.forget();
    const next = await rig.run();
    expect(next.status).toBe('success');
    expect(rig.counts()).toEqual({ work: 1 });
    // Had the gate been shown the rejected result again, it would have needed two rounds.
    expect(phaseOf(next, 'g').attempts).toBe(1);
  });

  it('items of a map that were rejected are removed, and run again', async () => {
    const run = 'bin/note "$ITEM"; if test -e "seen-$ITEM"; then echo good; else touch "seen-$ITEM"; echo bad; fi';
    const map = { id: 'work', type: 'map', over: ['x', 'y'], run, env: { ITEM: '{item}' }, cache: cross() };
    const result = await rig.run(flow([map, { ...judge, eval: ['!({steps.work.output} contains bad)'] }]));
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({ x: 2, y: 2 });
    expect(rig.entries().map((_, index) => textOf(rig.entry(index).output))).toEqual(['good', 'good']);
  });

  it.each([
    ['a flow', { id: 'work', type: 'flow', use: 'sub' }],
    ['a flow that is kept as a whole', { id: 'work', type: 'flow', use: 'sub', cache: cross() }],
    ['a flow that a map uses', { id: 'work', type: 'map', over: [1], use: 'sub' }],
    ['a flow that a map uses, kept item by item', { id: 'work', type: 'map', over: [1], use: 'sub', cache: cross() }],
  ])('%s that was rejected runs again inside too, and nothing of what was rejected is kept', async (_name, phase) => {
    saved('sub', { name: 'sub', phases: [work] });
    const result = await rig.run(flow([phase, judge]));
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({ work: 2 });
    for (const index of rig.entries().keys()) expect(textOf(rig.entry(index).output)).toBe('good');
  });

  it('iterations of a loop that was rejected are not put together again in a later run', async () => {
    const task = 'NAME: l\nSAY: bad';
    const loop = { id: 'work', type: 'loop', task, maxIterations: 2, convergence: false, cache: cross() };
    expect((await rig.run(flow([loop, judge]))).status).toBe('blocked');
    expect(rig.entries()).toEqual([]);
    rig.forget();
    await rig.run(undefined, { continuation: { how: 'fresh' } });
    expect(rig.counts()).toEqual({ l: 4 });
  });

  it('a gate that halts on a reused input says which --rerun to type', async () => {
    const strict = { ...judge, onBlock: 'halt', eval: ['{steps.work.output} == {args.want}'] };
    const steady = { ...work, run: 'bin/note work; echo good' };
    await rig.run(flow([steady, strict], { args: { want: { default: 'good' } } }));
    const blocked = await rig.run(undefined, { args: { want: 'better' } });
    expect(blocked.error?.hint).toContain('--rerun work');
  });

  it('--rerun of a flow runs what is inside again', async () => {
    saved('sub', { name: 'sub', phases: [work] });
    await rig.run(
      flow([
        { id: 'f', type: 'flow', use: 'sub' },
        { id: 'end', type: 'script', run: 'test -e ok', dependsOn: ['f'] },
      ]),
    );
    rig.forget();
    await rig.run(undefined, { selection: { rerun: ['f'] } });
    expect(rig.counts()).toEqual({ work: 1 });
  });
});

describe('verdicts that are hard to read fail closed', () => {
  it.each([
    ['**BLOCK**', 'blocked'],
    ['VERDICT: **BLOCK**', 'blocked'],
    ['not BLOCK', 'blocked'],
    ['I would not BLOCK this.', 'blocked'],
    ['PASS', 'blocked'],
    ['looks good to me', 'blocked'],
    ['VERDICT: PASS\nVERDICT: BLOCK', 'blocked'],
    ['VERDICT: PASSABLE', 'blocked'],
    ['{"verdict": "maybe"}', 'blocked'],
    ['{"pass": "true"}', 'blocked'],
    ['VERDICT: **PASS**', 'success'],
    ['{"verdict": "pass"}', 'success'],
    ['{"pass": true}', 'success'],
  ])('%j means %s', async (text, status) => {
    const lines = text.split('\n').map((line) => `SAY: ${line}`);
    const result = await rig.run(flow([{ id: 'g', type: 'gate', task: lines.join('\n') }]));
    expect(result.status).toBe(status);
  });
});
