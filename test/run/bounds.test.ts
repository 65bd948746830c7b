import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/model/event.js';
import { linesOf } from '../support/live-cli.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'bounds', ...more, phases });
const agents = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ id: `p${n}`, type: 'agent', task: `do ${n}`, ...more }));

/** An agent that notes its begin and end, and what it cost. */
function pricedAgent(usage: object, settings = '', seconds = '0.05'): void {
  const answer = JSON.stringify({ text: 'ok', usage });
  rig.write(
    'bin/priced',
    `#!/bin/sh\ncat > /dev/null\necho start >> ../times\nbin/tick call > /dev/null\nsleep ${seconds}\n` +
      `echo end >> ../times\nprintf '%s' '${answer}'\n`,
    0o755,
  );
  rig.write(
    '.pi/taskflows/config.yaml',
    `runner: priced\nrunners:\n  priced: { command: [bin/priced], format: json, model: m${settings} }\n`,
  );
}

function mostAtOnce(): number {
  let now = 0;
  let most = 0;
  for (const line of linesOf(`${rig.root}/../times`)) {
    now += line === 'start' ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

describe('concurrency', () => {
  it('is one bound for agents, scripts, items and branches together', async () => {
    const script = 'echo start >> ../times; sleep 0.03; echo end >> ../times';
    pricedAgent({});
    await rig.run(
      flow(
        [
          ...agents(2),
          { id: 's', type: 'script', run: script },
          { id: 'm', type: 'map', over: [1, 2, 3, 4], run: script },
          { id: 'par', type: 'parallel', branches: [{ run: script }, { run: script }] },
        ],
        { concurrency: 3 },
      ),
    );
    expect(mostAtOnce()).toBe(3);
  });

  it('only as many wait for a slot as keep all busy: the rest holds no claim that others wait for', async () => {
    const run = 'ls .pi/taskflows/cache | grep -c claim >> ../claims; sleep 0.02';
    const cache = { scope: 'cross-run', fingerprint: [] };
    const phases = Array.from({ length: 24 }, (_, n) => ({ id: `p${n}`, type: 'script', run, cache }));
    await rig.run(flow(phases, { concurrency: 2 }));
    const items = Array.from({ length: 24 }, (_, n) => n);
    const argv = ['sh', '-c', run, '{item}'];
    await rig.run(flow([{ id: 'm', type: 'map', over: items, run: argv, cache }], { concurrency: 2 }));
    const claims = linesOf(`${rig.root}/../claims`).map(Number);
    expect(claims).toHaveLength(48);
    // Two that run, two or three that wait, two whose results are being written.
    expect(Math.max(...claims)).toBeLessThanOrEqual(8);
  });

  it('a phase is told to have started when it has, not when it begins to wait for its turn', async () => {
    let running = 0;
    let most = 0;
    const onEvent = ({ type }: RunEvent) => {
      if (type === 'phase-start') running += 1;
      if (type === 'phase-end') running -= 1;
      most = Math.max(most, running);
    };
    pricedAgent({});
    const scripts = Array.from({ length: 6 }, (_, n) => ({ id: `s${n}`, type: 'script', run: 'sleep 0.03' }));
    await rig.run(flow([...scripts, ...agents(6)], { concurrency: 2 }), { onEvent });
    expect(running).toBe(0);
    // Two that run, two whose results are being written.
    expect(most).toBeLessThanOrEqual(4);
  });

  it('two runs of one flow at once share the work: each phase is executed once, and neither only waits', async () => {
    const cache = { scope: 'cross-run', fingerprint: [] };
    const phases = Array.from({ length: 8 }, (_, n) => ({
      id: `p${n}`,
      type: 'script',
      run: `bin/tick p${n}; sleep 0.1`,
      cache,
    }));
    const results = await Promise.all([1, 2].map(() => rig.run(flow(phases, { concurrency: 1 }))));
    expect(Object.values(rig.counts())).toEqual(Array(8).fill(1));
    for (const { status, reuse } of results) {
      expect(status).toBe('success');
      expect(reuse.executed).toBeGreaterThan(1);
    }
  });

  it('of a phase holds for its items', async () => {
    const script = 'echo start >> ../times; sleep 0.03; echo end >> ../times';
    await rig.run(flow([{ id: 'm', type: 'map', over: [1, 2, 3, 4, 5], concurrency: 2, run: script }]));
    expect(mostAtOnce()).toBe(2);
  });

  it('of a runner holds for all that use it, and keeps nobody else from running', async () => {
    pricedAgent({}, ', concurrency: 1', '0.2');
    const result = await rig.run(
      flow([...agents(3), ticking('s1'), ticking('s2', { dependsOn: ['s1'] })], { concurrency: 2 }),
    );
    expect(result.status).toBe('success');
    expect(mostAtOnce()).toBe(1);
    expect(rig.executions().indexOf('s2')).toBeLessThan(3);
  });

  it('a nested flow holds no slot of its own: with one slot, flows in flows still run', async () => {
    rig.write('.pi/taskflows/inner.json', JSON.stringify({ name: 'inner', phases: [ticking('x')] }));
    rig.write(
      '.pi/taskflows/outer.json',
      JSON.stringify({ name: 'outer', phases: [{ id: 'f', type: 'flow', use: 'inner' }] }),
    );
    const result = await rig.run(
      flow([{ id: 'm', type: 'map', over: [1, 2], use: 'outer', concurrency: 1 }], { concurrency: 1 }),
    );
    expect(result.status).toBe('success');
  });
});

describe('ratePerMinute', () => {
  it('lets so many begin, holds the rest without holding a slot, and can be interrupted', async () => {
    pricedAgent({}, ', ratePerMinute: 2', '0');
    const stop = new AbortController();
    const handle = await rig.start(
      flow([...agents(4), ticking('s1'), ticking('s2', { dependsOn: ['s1'] })], { concurrency: 2 }),
      { signal: stop.signal },
    );
    const end = Date.now() + 10_000;
    while (rig.executions().length < 4 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(rig.counts()).toEqual({ call: 2, s1: 1, s2: 1 });
    stop.abort();
    const result = await handle.result;
    expect(result.status).toBe('interrupted');
    expect(rig.counts()).toMatchObject({ call: 2 });
  });
});

describe('budget', () => {
  const cost = { inputTokens: 60, cachedInputTokens: 0, outputTokens: 40, usd: 0.5 };

  it('in money: stops admission once it is spent, keeps what was paid, counts reuse as nothing', async () => {
    pricedAgent(cost);
    const chain = agents(5).map((phase, n) => (n === 0 ? phase : { ...phase, dependsOn: [`p${n - 1}`] }));
    const first = await rig.run(flow(chain, { budget: { maxUSD: 1 } }));
    expect(first).toMatchObject({ status: 'over-budget', spent: { usd: 1, tokens: 200 } });
    expect(first.phases.map(({ status }) => status)).toEqual(['done', 'done', 'cancelled', 'cancelled', 'cancelled']);
    expect(first.error?.hint).toMatch(/--max-usd/);
    const second = await rig.run(flow(chain, { budget: { maxUSD: 1 } }));
    expect(second).toMatchObject({ status: 'over-budget', spent: { usd: 1 }, saved: { usd: 1, tokens: 200 } });
    const third = await rig.run(flow(chain, { budget: { maxUSD: 1 } }));
    expect(third).toMatchObject({ status: 'success', spent: { usd: 0.5, tokens: 100 }, saved: { usd: 2 } });
    expect(rig.counts()).toEqual({ call: 5 });
  });

  it('does not serialise fan-out: what is under way together is finished and paid for', async () => {
    pricedAgent(cost, '', '0.2');
    const result = await rig.run(flow(agents(6), { budget: { maxTokens: 90 }, concurrency: 3 }));
    expect(result).toMatchObject({ status: 'over-budget', spent: { tokens: 300 } });
    expect(rig.counts()).toEqual({ call: 3 });
    expect(mostAtOnce()).toBe(3);
  });

  it('a map that the budget stopped half-way is not kept as if it were whole', async () => {
    pricedAgent(cost);
    const mapped = (max: number) =>
      flow([{ id: 'm', type: 'map', over: [1, 2, 3, 4], task: 'do {item}', cache: { scope: 'cross-run' } }], {
        budget: { maxTokens: max },
        concurrency: 1,
      });
    const first = await rig.run(mapped(150));
    expect(first.status).toBe('over-budget');
    expect(phaseOf(first, 'm')).toMatchObject({ status: 'cancelled', items: { total: 4, executed: 2, failed: 0 } });
    const second = await rig.run(mapped(1_000), { continuation: { how: 'fresh' } });
    expect(phaseOf(second, 'm').items).toMatchObject({ executed: 2, reused: 2 });
    expect(rig.counts()).toEqual({ call: 4 });
  });

  it('in money with a runner that does not tell what it costs is refused before anything runs', async () => {
    rig.write('.pi/taskflows/config.yaml', 'runner: t\nrunners:\n  t: { command: [bin/agent], format: text }\n');
    await expect(rig.run(flow([ticking('a'), ...agents(1)], { budget: { maxUSD: 1 } }))).rejects.toThrow(/not report/);
    await expect(rig.run(flow([ticking('a'), ...agents(1)]), { maxUSD: 1 })).rejects.toThrow(/not report/);
    expect(rig.counts()).toEqual({});
    rig.write('sub.json', JSON.stringify({ name: 'sub', phases: agents(1) }));
    const hidden = flow([ticking('a'), { id: 'f', type: 'flow', use: './sub.json' }], { budget: { maxUSD: 1 } });
    await expect(rig.run(hidden)).rejects.toThrow(/not report/);
  });

  it('in money stops at the first call of unknown price, where the flow was not known before', async () => {
    pricedAgent({ inputTokens: 10 });
    const made = JSON.stringify(
      agents(3).map((phase, n) => (n === 0 ? phase : { ...phase, dependsOn: [`p${n - 1}`] })),
    );
    const result = await rig.run(
      flow(
        [
          { id: 'plan', type: 'script', run: ['printf', '%s', made] },
          { id: 'f', type: 'flow', def: '{steps.plan.output}' },
        ],
        {
          budget: { maxUSD: 1 },
        },
      ),
    );
    expect(result).toMatchObject({ status: 'over-budget', spent: { usd: null } });
    expect(rig.counts()).toEqual({ call: 1 });
  });

  it('of the command line goes before that of the flow', async () => {
    pricedAgent(cost);
    const chain = agents(3).map((phase, n) => (n === 0 ? phase : { ...phase, dependsOn: [`p${n - 1}`] }));
    expect((await rig.run(flow(chain, { budget: { maxUSD: 9 } }), { maxUSD: 0.4 })).status).toBe('over-budget');
    expect(rig.counts()).toEqual({ call: 1 });
  });
});
