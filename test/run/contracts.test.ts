import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'contracts', ...more, phases });
const says = (text: string, more: object = {}) => ({ id: 'a', type: 'script', run: ['bin/tick', 'a', text], ...more });
const needs = (...names: string[]) => ({ type: 'object', required: names });
const saved = (phases: object[], args: object = {}) =>
  rig.write('.pi/taskflows/sub.json', JSON.stringify({ name: 'sub', args, phases }));

/** The ways to run a flow inside another, each with what it is to do inside and the fields of the phase. */
const NESTED: [string, (inside: object, more: object) => object][] = [
  ['flow with def', (inside, more) => ({ id: 'f', type: 'flow', def: [inside], ...more })],
  ['expand', (inside, more) => ({ id: 'f', type: 'expand', def: [inside], ...more })],
  ['grafted expand', (inside, more) => ({ id: 'f', type: 'expand', expandMode: 'graft', def: [inside], ...more })],
  [
    'flow with use',
    (inside, more) => {
      saved([inside]);
      return { id: 'f', type: 'flow', use: 'sub', ...more };
    },
  ],
];

describe.each(NESTED)('what a %s promises about its output', (_name, nested) => {
  it('is held: prose is not JSON', async () => {
    const result = await rig.run(flow([nested(says('nojson'), { output: 'json', expect: needs('zz') })]));
    expect(result).toMatchObject({ status: 'failed', error: { phase: 'f', code: 'not-json' } });
    expect(phaseOf(result, 'f').error?.hint).toContain('--rerun f');
  });

  it('is held: JSON that is not as expected fails, whoever read it', async () => {
    const plain = await rig.run(flow([nested(says('{"n":1}'), { output: 'json', expect: needs('zz') })]));
    expect(plain.error).toMatchObject({ phase: 'f', code: 'expect' });
    const read = await rig.run(flow([nested(says('{"n":1}', { output: 'json' }), { expect: needs('zz') })]));
    expect(read.error).toMatchObject({ phase: 'f', code: 'expect' });
  });

  it('makes the parsed value its JSON, and that of the run', async () => {
    const result = await rig.run(flow([nested(says('{"n":[1,2]}'), { output: 'json', expect: needs('n') })]));
    expect(phaseOf(result, 'f')).toMatchObject({ status: 'done', json: { n: [1, 2] }, output: '{"n":[1,2]}' });
    expect(result.json).toEqual({ n: [1, 2] });
  });

  it('is met by JSON that was read inside, without output: json around it', async () => {
    const result = await rig.run(flow([nested(says('{"n":1}', { output: 'json' }), { expect: needs('n') })]));
    expect(phaseOf(result, 'f')).toMatchObject({ status: 'done', json: { n: 1 } });
  });

  it('is held again when all of it is reused, and nothing inside runs again for a new promise', async () => {
    const before = await rig.run(flow([nested(says('{"n":1}'), { output: 'json', expect: needs('zz') })]));
    expect(before.status).toBe('failed');
    const again = await rig.run();
    expect(again.error).toMatchObject({ phase: 'f', code: 'expect' });
    expect(phaseOf(again, 'f').cacheHit).toBeNull();
    const resumed = await rig.run(undefined, { continuation: { how: 'resume', runId: again.runId } });
    expect(resumed.error).toMatchObject({ phase: 'f', code: 'expect' });
    const met = await rig.run(
      flow([nested(says('{"n":1}', { cache: { fingerprint: [] } }), { output: 'json', expect: needs('n') })]),
    );
    expect(phaseOf(met, 'f')).toMatchObject({ status: 'done', json: { n: 1 } });
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('is part of the key of a whole that is reused across runs', async () => {
    const cache = { scope: 'cross-run', fingerprint: [] };
    const text = flow([nested(says('{"n":1}'), { cache })]);
    expect(phaseOf(await rig.run(text), 'f')).toMatchObject({ status: 'done', json: null });
    const json = flow([nested(says('{"n":1}'), { cache, output: 'json', expect: needs('n') })]);
    expect(phaseOf(await rig.run(json), 'f')).toMatchObject({ cacheHit: null, json: { n: 1 } });
    expect(phaseOf(await rig.run(json), 'f')).toMatchObject({ cacheHit: 'cross-run', json: { n: 1 } });
    const unmet = flow([nested(says('{"n":1}'), { cache, output: 'json', expect: needs('zz') })]);
    expect((await rig.run(unmet)).error).toMatchObject({ phase: 'f', code: 'expect' });
    expect((await rig.run(unmet, { continuation: { how: 'fresh' } })).error).toMatchObject({ code: 'expect' });
  });
});

describe('JSON that a nested flow makes', () => {
  it('may stand in a fence where an agent says it, and not where a script does', async () => {
    const fenced = { id: 'a', type: 'agent', task: 'SAY: ```json\nSAY: {"n": 1}\nSAY: ```' };
    const agent = await rig.run(flow([{ id: 'f', type: 'flow', output: 'json', def: [fenced] }]));
    expect(phaseOf(agent, 'f').json).toEqual({ n: 1 });
    const script = await rig.run(flow([{ id: 'f', type: 'flow', output: 'json', def: [says('so: {"n": 1}')] }]));
    expect(script.error).toMatchObject({ code: 'not-json' });
  });

  it('is the list of a map, whose text is made for people', async () => {
    const map = { id: 'm', type: 'map', over: ['x', 'y'], run: ['bin/tick', 'm', '{item}'] };
    const result = await rig.run(flow([{ id: 'f', type: 'flow', output: 'json', def: [map] }]));
    expect(phaseOf(result, 'f').json).toEqual(['x', 'y']);
  });
});

describe('a map with `use`', () => {
  const map = (over: readonly string[], more: object) => ({
    id: 'm',
    type: 'map',
    over,
    use: 'sub',
    with: { t: '{item}' },
    output: 'json',
    ...more,
  });
  beforeEach(() => saved([{ id: 'a', type: 'script', run: ['bin/tick', 'a', '{args.t}'] }], { t: {} }));

  it('has the list of parsed values as its JSON, null among them', async () => {
    const result = await rig.run(flow([map(['{"n":1}', 'null', '"x"'], {})]));
    expect(phaseOf(result, 'm').json).toEqual([{ n: 1 }, null, 'x']);
    expect(result.json).toEqual([{ n: 1 }, null, 'x']);
  });

  it('holds each item to `expect`, and says which one does not meet it', async () => {
    const result = await rig.run(flow([map(['{"n":1}', '{"o":1}', 'prose'], { expect: needs('n') })]));
    expect(phaseOf(result, 'm')).toMatchObject({ status: 'failed', items: { total: 3, failed: 2 } });
    expect(result.error?.message).toContain('2 of 3 failed; item 2 ({"o":1}): the output does not meet `expect`');
    expect(result.error?.detail).toContain('item 3 (prose): the output is not JSON');
  });

  it('keeps items across runs by what they promise', async () => {
    const cache = { scope: 'cross-run', fingerprint: [] };
    await rig.run(flow([map(['{"n":1}'], { output: 'text', cache })]));
    const result = await rig.run(flow([map(['{"n":1}'], { cache })]));
    expect(phaseOf(result, 'm')).toMatchObject({ cacheHit: null, json: [{ n: 1 }] });
    const again = await rig.run(flow([map(['{"n":1}'], { cache })]));
    expect(phaseOf(again, 'm')).toMatchObject({ cacheHit: 'cross-run', json: [{ n: 1 }] });
    const unmet = await rig.run(flow([map(['{"n":1}'], { cache, expect: needs('zz') })]));
    expect(unmet.error?.message).toContain('does not meet `expect`');
  });
});

describe('what a gate promises, its judge owes', () => {
  const gate = (task: string, more: object = {}) => ({
    id: 'g',
    type: 'gate',
    task: `NAME: judge\n${task}`,
    output: 'json',
    expect: needs('reason'),
    ...more,
  });

  it.each([
    ['an answer without what is expected', 'SAY: {"verdict": "pass"}', 'does not meet `expect`'],
    ['an answer that is not JSON', 'SAY: VERDICT: PASS', 'not JSON'],
  ])('%s never passes', async (_name, task, reason) => {
    const result = await rig.run(flow([gate(task), ticking('b', { dependsOn: ['g'] })]));
    expect(result).toMatchObject({ status: 'blocked', error: { phase: 'g', code: 'blocked' } });
    expect(result.error?.message).toContain(reason);
    expect(rig.counts()).toEqual({ judge: 1 });
  });

  it('a good answer is the JSON of the gate, with the verdict in its own words', async () => {
    const result = await rig.run(flow([gate('SAY: {"verdict": "PASS", "reason": "fine", "risk": 2}')]));
    expect(phaseOf(result, 'g')).toMatchObject({ status: 'done', json: { verdict: 'pass', reason: 'fine', risk: 2 } });
    const blocked = await rig.run(flow([gate('SAY: {"verdict": "block", "reason": "too long"}')]));
    expect(blocked.error?.message).toBe('too long');
  });

  it('a bad answer is asked for again where `retry` says so', async () => {
    rig.write(
      'bin/agent',
      '#!/bin/sh\ncat > /dev/null\nbin/tick judge > /dev/null\n' +
        `test -e ../asked && echo '{"verdict":"pass","reason":"now"}' || { touch ../asked; ` +
        `echo '{"verdict":"pass"}'; }\n`,
      0o755,
    );
    const result = await rig.run(flow([gate('', { retry: { max: 1, backoffMs: 1 } })]));
    expect(phaseOf(result, 'g')).toMatchObject({ status: 'done', json: { reason: 'now' } });
    expect(rig.counts()).toEqual({ judge: 2 });
  });

  it('is asked for in the words that the promise needs, unless the task has its own', async () => {
    const echoed = async (more: object) => {
      const result = await rig.run(flow([{ id: 'g', type: 'gate', task: 'Judge.', ...more }]));
      const { traceRun } = await import('../../src/run/history/trace.js');
      return JSON.stringify(traceRun(rig.project, result.runId));
    };
    expect(await echoed({ output: 'json' })).toContain('Answer with JSON');
    expect(await echoed({})).toContain('VERDICT: PASS');
  });

  it('of a judge that scores', async () => {
    const score = (said: string) => ({
      id: 'g',
      type: 'gate',
      output: 'json',
      expect: needs('score', 'why'),
      score: {
        target: 'text',
        scorers: [{ type: 'contains', value: 'text' }],
        combine: 'all',
        threshold: 0.5,
        judge: { task: `SAY: ${said}` },
      },
    });
    expect((await rig.run(flow([score('{"score": 0.9}')]))).status).toBe('blocked');
    const good = await rig.run(flow([score('{"score": 0.9, "why": "nice"}')]));
    expect(phaseOf(good, 'g')).toMatchObject({ status: 'done', json: { combined: 0.9 } });
  });

  it('is not asked of conditions: they pass without a judge', async () => {
    const result = await rig.run(flow([gate('SAY: {"verdict": "pass"}', { eval: ['1 == 1'] })]));
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({});
  });
});
