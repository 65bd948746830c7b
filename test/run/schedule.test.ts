import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'order', ...more, phases });
const failing = (id: string, more: object = {}) => ({ id, type: 'script', run: `bin/tick ${id}; exit 1`, ...more });

describe('when a phase starts', () => {
  it('starts as soon as its own dependencies are met: a slow sibling holds nobody up', async () => {
    const result = await rig.run(
      flow([
        { id: 'slow', type: 'script', run: 'sleep 1; bin/tick slow' },
        ticking('quick'),
        ticking('after-quick', { dependsOn: ['quick'] }),
        ticking('last', { dependsOn: ['slow', 'after-quick'] }),
      ]),
    );
    expect(result.status).toBe('success');
    expect(rig.executions()).toEqual(['quick', 'after-quick', 'slow', 'last']);
  });

  it('a reference is an edge', async () => {
    await rig.run(flow([ticking('b', {}, 'saw {steps.a.output}'), ticking('a')]));
    expect(rig.executions()).toEqual(['a', 'b']);
  });

  it('join: any starts on the first success while others are under way', async () => {
    await rig.run(
      flow([
        { id: 'slow', type: 'script', run: 'sleep 1; bin/tick slow' },
        failing('broken', { optional: true }),
        ticking('quick'),
        ticking('any', { dependsOn: ['slow', 'quick'], join: 'any' }),
      ]),
    );
    expect(rig.executions().indexOf('any')).toBeLessThan(rig.executions().indexOf('slow'));
  });
});

describe('a phase that is reused at once', () => {
  const kept = { cache: { scope: 'cross-run', fingerprint: ['file:in.txt'] } };
  const three = flow([ticking('a', kept), ticking('b', { ...kept, dependsOn: ['a'] }), ticking('c', kept)]);

  it('settles before the ones that execute, and what follows it starts', async () => {
    rig.write('in.txt', 'one');
    await rig.run(three);
    const ended: string[] = [];
    const result = await rig.run(flow([...three.phases, ticking('d', { dependsOn: ['b'] }), ticking('e')]), {
      onEvent: (event) => event.type === 'phase-end' && ended.push(event.phase),
    });
    expect(result.reuse).toEqual({ executed: 2, run: 0, crossRun: 3 });
    expect(ended.slice(0, 3).sort()).toEqual(['a', 'b', 'c']);
    expect(rig.counts()).toEqual({ a: 1, b: 1, c: 1, d: 1, e: 1 });
  });

  it('fails by itself when there is a bug in it, and the run ends', async () => {
    rig.write('in.txt', 'one');
    await rig.run(three);
    const onMade = ({ phase }: { readonly phase: { readonly id: string } }) => {
      if (phase.id === 'a') throw new Error('broken on purpose');
    };
    const result = await rig.run(three, { onMade, keepGoing: true });
    expect(result.error).toMatchObject({ phase: 'a', code: 'internal' });
    expect(result.phases.map(({ id, status }) => [id, status])).toEqual([
      ['a', 'failed'],
      ['b', 'skipped'],
      ['c', 'done'],
    ]);
    expect(rig.counts()).toEqual({ a: 1, b: 1, c: 1 });
  });
});

describe('what a failure does', () => {
  it('ends admission, lets what is under way finish, cancels the rest', async () => {
    const result = await rig.run(
      flow([
        failing('bad'),
        { id: 'long', type: 'script', run: 'sleep 0.5; bin/tick long' },
        ticking('after-long', { dependsOn: ['long'] }),
        ticking('after-bad', { dependsOn: ['bad'] }),
      ]),
    );
    expect(result.status).toBe('failed');
    expect(rig.counts()).toEqual({ bad: 1, long: 1 });
    expect(phaseOf(result, 'long').status).toBe('done');
    expect(phaseOf(result, 'after-long').status).toBe('cancelled');
    expect(phaseOf(result, 'after-bad').status).toBe('cancelled');
  });

  it('--keep-going skips only what depends on it', async () => {
    const result = await rig.run(
      flow([failing('bad'), ticking('a', { dependsOn: ['bad'] }), ticking('b', { dependsOn: ['a'] }), ticking('c')]),
      { keepGoing: true },
    );
    expect(result.status).toBe('failed');
    expect(rig.counts()).toEqual({ bad: 1, c: 1 });
    expect(phaseOf(result, 'a').status).toBe('skipped');
    expect(phaseOf(result, 'b').status).toBe('skipped');
  });

  it('a failed optional phase counts as done with no output', async () => {
    const result = await rig.run(
      flow([failing('bad', { optional: true }), ticking('b', {}, 'got [{steps.bad.output}]')]),
    );
    expect(result.status).toBe('success');
    expect(result.output).toBe('got []');
  });

  it('a failure inside of an optional nested flow stops nothing around it', async () => {
    rig.write(
      'sub.json',
      JSON.stringify({ name: 'sub', phases: [failing('inner'), ticking('inner2', { dependsOn: ['inner'] })] }),
    );
    const result = await rig.run(
      flow([{ id: 'f', type: 'flow', use: './sub.json', optional: true }, ticking('b', { dependsOn: ['f'] })]),
    );
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({ inner: 1, b: 1 });
  });
});

describe('skipping', () => {
  it('a dependency skipped by its own `when` is a decision, not a failure', async () => {
    const result = await rig.run(
      flow([
        ticking('a'),
        ticking('no', { when: '{steps.a.output} == never' }),
        ticking('c', { dependsOn: ['a', 'no'] }),
        ticking('only', { dependsOn: ['no'] }),
      ]),
    );
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({ a: 1, c: 1 });
    expect(phaseOf(result, 'no').status).toBe('skipped');
    expect(phaseOf(result, 'only').status).toBe('skipped');
  });
});

describe('budget', () => {
  it('stops admission when the tokens are spent, and keeps what was paid for', async () => {
    rig.write(
      'bin/paid',
      '#!/bin/sh\ncat > /dev/null\nbin/tick paid > /dev/null\n' +
        'printf \'{"text": "ok", "stopReason": "complete", "usage": {"inputTokens": 60, "cachedInputTokens": 0, ' +
        '"outputTokens": 0, "usd": 0.5}}\'\n',
      0o755,
    );
    rig.write(
      '.pi/taskflows/config.yaml',
      'runner: paid\nrunners:\n  paid: { command: [bin/paid], format: json, model: m }\n',
    );
    const phases = [1, 2, 3, 4].map((n) => ({
      id: `p${n}`,
      type: 'agent',
      task: `do ${n}`,
      ...(n > 1 && { dependsOn: [`p${n - 1}`] }),
    }));
    const result = await rig.run(flow(phases, { budget: { maxTokens: 100 } }));
    expect(result.status).toBe('over-budget');
    expect(rig.counts()).toEqual({ paid: 2 });
    expect(result.spent).toEqual({ usd: 1, tokens: 120 });
    rig.forget();
    const second = await rig.run(flow(phases, { budget: { maxTokens: 1000 } }));
    expect(second.status).toBe('success');
    expect(rig.counts()).toEqual({ paid: 2 });
    expect(second.spent.tokens).toBe(120);
    expect(second.saved.tokens).toBe(120);
  });
});

describe('concurrency', () => {
  it('is what the settings say where the flow says nothing', async () => {
    rig.write('.pi/taskflows/config.yaml', 'concurrency: 1\n');
    const phases = ['a', 'b', 'c'].map((id) => ({
      id,
      type: 'script',
      run: `bin/tick ${id}+; sleep 0.1; bin/tick ${id}-`,
    }));
    await rig.run(flow(phases));
    const order = rig.executions();
    for (const id of ['a', 'b', 'c']) expect(order.indexOf(`${id}-`)).toBe(order.indexOf(`${id}+`) + 1);
  });
});
