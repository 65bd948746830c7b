import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (more: object[] = [], rest: object = {}) => ({
  name: 'parts',
  ...rest,
  phases: [
    ticking('a', {}, 'A'),
    ticking('b', {}, 'B of {steps.a.output}'),
    ticking('side', {}, 'S'),
    ticking('c', {}, 'C of {steps.b.output}'),
    ...more,
  ],
});

describe('a part of a nested flow that is kept as a whole', () => {
  const kept = { cache: { scope: 'cross-run', fingerprint: [] } };
  const counting = (id: string) => ({ id, type: 'script', run: `bin/tick ${id} > /dev/null; grep -c ${id} ../log` });
  const end = { id: 'y', type: 'script', run: ['bin/tick', 'y', 'x was {steps.x.output}'] };
  const nested = { id: 'f', type: 'flow', use: './sub.json', ...kept };
  const mapped = { id: 'f', type: 'map', over: ['one'], use: './sub.json', ...kept };
  beforeEach(() => rig.write('sub.json', JSON.stringify({ name: 'sub', phases: [counting('x'), end] })));
  const inner = async () => {
    const seen: string[] = [];
    await rig.run(undefined, {
      continuation: { how: 'fresh' },
      onEvent: (event) => 'phase' in event && seen.push(event.phase ?? ''),
    });
    return seen.find((path) => path.endsWith('/x'))!;
  };

  it.each([
    ['flow', nested],
    ['map', mapped],
  ])('--skip of it does not spoil what is kept of a %s', async (_, phase) => {
    const flow = { name: 'part', phases: [phase] };
    rig.write('flow.json', JSON.stringify(flow));
    const path = await inner();
    await rig.run(undefined, { reuse: 'refresh', selection: { skip: [path] }, continuation: { how: 'fresh' } });
    const after = await rig.run(undefined, { continuation: { how: 'fresh' } });
    expect(after.output).toContain('x was 1');
    expect(after.reuse.executed).toBe(0);
  });

  it.each([
    ['flow', nested],
    ['map', mapped],
  ])('--rerun of it runs, and is what a later run takes of a %s', async (_, phase) => {
    const flow = { name: 'part', phases: [phase] };
    rig.write('flow.json', JSON.stringify(flow));
    const path = await inner();
    const again = await rig.run(undefined, { selection: { rerun: [path] } });
    expect(again.output).toContain('x was 2');
    const after = await rig.run(undefined, { continuation: { how: 'fresh' } });
    expect(after.output).toContain('x was 2');
    expect(after.reuse.executed).toBe(0);
    expect(rig.counts()).toEqual({ x: 2, y: 2 });
  });
});

describe('--only', () => {
  it('executes one phase with the restored outputs of those it needs, and gives its output', async () => {
    await rig.run(flow());
    rig.forget();
    const result = await rig.run(flow(), { selection: { only: 'b' } });
    expect(result).toMatchObject({ status: 'success', output: 'B of A' });
    expect(rig.counts()).toEqual({ b: 1 });
    expect(phaseOf(result, 'a')).toMatchObject({ status: 'done', cacheHit: 'run' });
    expect(phaseOf(result, 'c').status).toBe('skipped');
  });

  it('takes what it needs as it was, although it has been edited since', async () => {
    await rig.run(flow());
    rig.forget();
    const { phases, ...rest } = flow();
    const edited = { ...rest, phases: [ticking('a', {}, 'other'), ...phases.slice(1)] };
    expect((await rig.run(edited, { selection: { only: 'b' } })).output).toBe('B of A');
  });

  it('says so when there is nothing to restore, or only something of other arguments', async () => {
    const withArgs = flow([], { args: { n: { default: '1' } } });
    const first = await rig.run(withArgs, { selection: { only: 'b' } });
    expect(first.error).toMatchObject({ phase: 'a', code: 'bad-input' });
    await rig.run(withArgs, { args: { n: '1' } });
    const other = await rig.run(withArgs, { args: { n: '2' }, selection: { only: 'b' } });
    expect(other.error).toMatchObject({ phase: 'a', code: 'bad-input' });
    expect((await rig.run(withArgs, { args: { n: '1' }, selection: { only: 'b' } })).status).toBe('success');
  });

  it('is a side path: the next run continues what it would have continued', async () => {
    const failing = flow([{ id: 'end', type: 'script', run: 'bin/tick end; test -e ../ok', dependsOn: ['c'] }]);
    const first = await rig.run(failing);
    await rig.run(failing, { selection: { only: 'a' } });
    rig.forget();
    rig.write('../ok', '');
    const next = await rig.run(failing);
    expect(next).toMatchObject({ status: 'success', continues: first.runId });
    expect(rig.counts()).toEqual({ end: 1 });
  });
});

describe('--from', () => {
  it('executes that phase and everything after it, also what declares its inputs', async () => {
    await rig.run(flow());
    rig.forget();
    const { phases, ...rest } = flow();
    const edited = {
      ...rest,
      phases: [...phases.slice(0, 1), ticking('b', {}, 'new B of {steps.a.output}'), ...phases.slice(2)],
    };
    const result = await rig.run(edited, { selection: { from: 'b' } });
    expect(result.output).toBe('C of new B of A');
    expect(rig.counts()).toEqual({ b: 1, c: 1 });
  });

  it('a phase that was skipped by its condition in the last run is skipped, not missing', async () => {
    const conditional = flow([
      ticking('no', { when: '{steps.a.output} == never' }),
      ticking('last', { dependsOn: ['c', 'no'] }),
    ]);
    await rig.run(conditional);
    rig.forget();
    expect((await rig.run(conditional, { selection: { from: 'last' } })).status).toBe('success');
    expect(rig.counts()).toEqual({ last: 1 });
  });

  it('an optional phase that failed in the last run counts as it did then', async () => {
    const tolerant = flow([
      { id: 'shaky', type: 'script', run: 'exit 1', optional: true },
      ticking('last', { dependsOn: ['c', 'shaky'] }),
    ]);
    await rig.run(tolerant);
    rig.forget();
    expect((await rig.run(tolerant, { selection: { from: 'last' } })).status).toBe('success');
    expect(rig.counts()).toEqual({ last: 1 });
  });
});

describe('--until', () => {
  it('executes that phase and what it needs, gives its output, and the next run goes on from there', async () => {
    const result = await rig.run(flow(), { selection: { until: 'b' } });
    expect(result).toMatchObject({ status: 'success', output: 'B of A' });
    expect(rig.counts()).toEqual({ a: 1, b: 1 });
    const next = await rig.run(flow());
    expect(next).toMatchObject({ status: 'success', continues: result.runId, output: 'C of B of A' });
    expect(rig.counts()).toEqual({ a: 1, b: 1, side: 1, c: 1 });
    // That one is whole: it is not continued.
    expect((await rig.run(flow())).continues).toBeUndefined();
  });

  it('with --from: what lies between', async () => {
    await rig.run(flow());
    rig.forget();
    await rig.run(flow(), { selection: { from: 'b', until: 'b' } });
    expect(rig.counts()).toEqual({ b: 1 });
  });
});

describe('--rerun and --skip', () => {
  it('--rerun executes that phase and all that follow it without declaring their inputs', async () => {
    const failing = flow([{ id: 'end', type: 'script', run: 'bin/tick end; exit 1', dependsOn: ['c'] }]);
    await rig.run(failing);
    rig.forget();
    await rig.run(failing, { selection: { rerun: ['a'] } });
    expect(rig.counts()).toEqual({ a: 1, b: 1, c: 1, end: 1 });
  });

  it('--skip leaves a phase out, and what follows runs without its output', async () => {
    const result = await rig.run(flow(), { selection: { skip: ['b'] } });
    expect(result).toMatchObject({ status: 'success', output: 'C of ' });
    expect(rig.counts()).toEqual({ a: 1, side: 1, c: 1 });
  });

  it('a chain of ten thousand phases can be cut anywhere', async () => {
    const { selectPhases } = await import('../../src/run/schedule/selection.js');
    const phases = Array.from({ length: 10_000 }, (_, n) => ({
      id: `p${n}`,
      needs: n === 0 ? [] : [{ id: `p${n - 1}`, referenced: false }],
    })).reverse();
    const scope = { path: '', flow: { phases } } as never;
    const until = selectPhases(scope, { until: 'p9000' });
    expect([until('p0'), until('p9000'), until('p9001')]).toEqual(['run', 'run', 'leave']);
    const from = selectPhases(scope, { from: 'p9000' });
    expect([from('p0'), from('p9000'), from('p9999')]).toEqual(['restore', 'run', 'run']);
  });
});
