import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.js';
import { answering, createMemoRig, flow, type MemoRig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5 };
const plan = (made: unknown, more: object = { output: 'json' }) =>
  answering('plan', { text: JSON.stringify(made), stopReason: 'complete', model: 'm-1', usage }, more);
const inner = (id: string) => ({ id, task: `NAME: ${id}\nANSWER: {"text": "${id}", "stopReason": "complete"}` });
const runs = (from: string, def = '{steps.plan.json}') => ({ id: 'go', type: from, def });

const BAD: readonly [string, unknown, object][] = [
  ['a command in it', [{ id: 'x', type: 'script', run: 'true' }], runs('flow')],
  ['a phase that waits for one which is not there', [{ ...inner('x'), dependsOn: ['gone'] }], runs('flow')],
  ['more phases than maxNodes allows', [inner('x'), inner('y')], { ...runs('expand'), maxNodes: 1 }],
  ['no value under the name that is read', { other: [] }, runs('flow', '{steps.plan.json.flow}')],
];

describe('a plan that cannot be run is not kept: the next run plans again', () => {
  const afresh = { continuation: { how: 'fresh' } } as const;

  it('a good plan is kept, so the other tests of this file could fail', async () => {
    expect(await rig.executed(flow([plan([inner('x')]), runs('flow')]))).toEqual({ plan: 1, x: 1 });
    expect((await rig.executed(undefined, afresh))['plan']).toBeUndefined();
  });

  it.each(BAD)('%s, from the store', async (_what, made, go) => {
    expect(await rig.executed(flow([plan(made), go]), afresh)).toEqual({ plan: 1 });
    expect(rig.entries()).toEqual([]);
    expect(await rig.executed(undefined, afresh)).toEqual({ plan: 1 });
  });

  it.each(BAD)('%s, from the run that is continued', async (_what, made, go) => {
    const planOnly = plan(made, { output: 'json', cache: { scope: 'run-only' } });
    expect(await rig.executed(flow([planOnly, go]))).toEqual({ plan: 1 });
    expect(await rig.executed()).toEqual({ plan: 1 });
  });

  it('prose instead of a plan, read through {previous.output}', async () => {
    const prose = plan('no plan today', {});
    const go = { id: 'go', type: 'flow', def: '{previous.output}', dependsOn: ['plan'] };
    expect(await rig.executed(flow([prose, go]), afresh)).toEqual({ plan: 1 });
    expect(await rig.executed(undefined, afresh)).toEqual({ plan: 1 });
  });

  it('a plan that is good and whose flow then fails is kept: it was paid for', async () => {
    const failing = { id: 'x', task: 'NAME: x\nANSWER: {"text": "", "stopReason": "refusal"}', retry: { max: 0 } };
    expect(await rig.executed(flow([plan([failing]), runs('flow')]), afresh)).toEqual({ plan: 1, x: 1 });
    expect(await rig.executed(undefined, afresh)).toEqual({ x: 1 });
  });

  it('a dry run looks at a bad plan and forgets nothing', async () => {
    const two = [inner('x'), inner('y')];
    await rig.executed(flow([plan(two), { ...runs('expand'), maxNodes: 2 }]), afresh);
    const stored = rig.entries();
    expect(stored.length).toBeGreaterThan(0);
    rig.write('flow.json', JSON.stringify(flow([plan(two), { ...runs('expand'), maxNodes: 1 }])));
    const { stdout } = await runCli(['run', './flow.json', '--dry-run', '--json'], { cwd: rig.root });
    expect(stdout).toContain('more than maxNodes');
    expect(rig.entries()).toEqual(stored);
  });
});
