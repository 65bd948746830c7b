import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, phaseOf, type Rig } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
  rig.write(
    'bin/who',
    '#!/bin/sh\ncat > /dev/null\nbin/tick "$1" "$1 ${TASKFLOW_MODEL:-none} ${TASKFLOW_THINKING:-none}"\n',
    0o755,
  );
  rig.write(
    '.pi/taskflows/config.yaml',
    'runner: cfg\nrunners:\n  cfg: { command: [bin/who, cfg], format: text }\n' +
      '  js: { command: [bin/who, js], format: text }\n  own: { command: [bin/who, own], format: text }\n',
  );
});
afterEach(() => rig.remove());

const OUTER = { runner: 'js', model: 'm0', thinking: 'high' };
const flow = (phases: object[], more: object = OUTER) => ({ name: 'outer', ...more, phases });
const ask = { id: 'x', type: 'agent', task: 'Who are you?' };
/** As a model would say it: known only when it runs. */
const plan = (def: unknown) => ({ id: 'plan', type: 'script', run: ['printf', '%s', JSON.stringify(def)] });

/** The ways to have a flow inside of one file, each as the phases that lead to it. */
const INSIDE: [string, (def: object, more?: object) => object[]][] = [
  ['an inline flow', (def, more) => [{ id: 'f', type: 'flow', def, ...more }]],
  ['an inline fragment', (def, more) => [{ id: 'f', type: 'expand', def, ...more }]],
  ['an inline graft', (def, more) => [{ id: 'f', type: 'expand', expandMode: 'graft', def, ...more }]],
  ['a generated flow', (def, more) => [plan(def), { id: 'f', type: 'flow', def: '{steps.plan.json}', ...more }]],
  [
    'a generated graft',
    (def, more) => [plan(def), { id: 'f', type: 'expand', expandMode: 'graft', def: '{steps.plan.json}', ...more }],
  ],
];

describe.each(INSIDE)('%s', (_name, inside) => {
  it('has runner, model and thinking of the flow around it', async () => {
    expect((await rig.run(flow(inside({ phases: [ask] })))).output).toBe('js m0 high');
  });

  it('looks for agents where the flow around it does', async () => {
    rig.write('.pi/agents/ours.md', '---\nname: ours\ndescription: x\nmodel: ours-1\n---\nHi.\n');
    const asks = { phases: [{ ...ask, agent: 'ours' }] };
    expect((await rig.run(flow(inside(asks)))).output).toBe('js ours-1 high');
    const elsewhere = async () => rig.run(flow(inside(asks), { ...OUTER, agentScope: 'user' }));
    const failed = await elsewhere().then(
      (result) => result.error?.message,
      (refused: Error) => refused.message,
    );
    expect(failed).toContain('"ours"');
    const own = { ...asks, agentScope: 'project' };
    expect((await rig.run(flow(inside(own), { ...OUTER, agentScope: 'user' }))).output).toBe('js ours-1 high');
  });

  it('has its own where it says so', async () => {
    const own = { model: 'm1', phases: [{ ...ask, thinking: 'low' }] };
    expect((await rig.run(flow(inside(own)))).output).toBe('js m1 low');
  });

  it('has them from any depth', async () => {
    const deep = { thinking: 'low', phases: [{ id: 'in', type: 'flow', def: [ask] }] };
    expect((await rig.run(flow(inside(deep)))).output).toBe('js m0 low');
  });

  it('runs again when they change around it, alone and as a whole', async () => {
    const kept = { scope: 'cross-run', fingerprint: [] };
    for (const phases of [inside({ phases: [{ ...ask, cache: kept }] }), inside({ phases: [ask] }, { cache: kept })]) {
      expect((await rig.run(flow(phases))).output).toBe('js m0 high');
      expect(phaseOf(await rig.run(flow(phases)), 'f')).toMatchObject({ cacheHit: 'cross-run', output: 'js m0 high' });
      expect((await rig.run(flow(phases, { ...OUTER, model: 'm9' }))).output).toBe('js m9 high');
      expect((await rig.run(flow(phases, { ...OUTER, thinking: 'low' }))).output).toBe('js m0 low');
      expect((await rig.run(flow(phases, { ...OUTER, runner: 'own' }))).output).toBe('own m0 high');
    }
  });
});

it('a run that continues asks again inside when the model around it has changed', async () => {
  const failing = { id: 'z', type: 'script', run: 'exit 1', dependsOn: ['f'] };
  const phases = [{ id: 'f', type: 'flow', def: [ask] }, failing];
  await rig.run(flow(phases));
  await rig.run(flow(phases));
  expect(rig.counts()).toEqual({ js: 1 });
  const changed = await rig.run(flow(phases, { ...OUTER, model: 'm9' }));
  expect(phaseOf(changed, 'f').output).toBe('js m9 high');
});

it('a flow inside that asks nobody is kept whatever model is named around it', async () => {
  const script = { id: 's', type: 'script', run: ['bin/tick', 's', 'said'] };
  const phases = [{ id: 'f', type: 'flow', def: [script], cache: { scope: 'cross-run', fingerprint: [] } }];
  await rig.run(flow(phases));
  const result = await rig.run(flow(phases, { ...OUTER, model: 'm9' }));
  expect(phaseOf(result, 'f').cacheHit).toBe('cross-run');
  expect(rig.counts()).toEqual({ s: 1 });
});

describe('a flow that is used from a file of its own', () => {
  beforeEach(() => rig.write('.pi/taskflows/sub.json', JSON.stringify({ name: 'sub', phases: [ask] })));

  it('stands for itself', async () => {
    expect((await rig.run(flow([{ id: 'f', type: 'flow', use: 'sub' }]))).output).toBe('cfg none none');
    const each = { id: 'm', type: 'map', over: ['a'], use: 'sub' };
    expect((await rig.run(flow([each]))).output).toBe('cfg none none');
  });

  it('also inside of an inline flow', async () => {
    const def = [{ id: 'in', type: 'flow', use: 'sub' }];
    expect((await rig.run(flow([{ id: 'f', type: 'flow', def }]))).output).toBe('cfg none none');
  });
});

describe('a budget in money', () => {
  /** Tells what it costs, in the form of the contract. */
  beforeEach(() => {
    rig.write(
      'bin/priced',
      `#!/bin/sh\ncat > /dev/null\nbin/tick priced > /dev/null\nprintf '%s' ` +
        `'{"text":"paid","stopReason":"complete","usage":{"inputTokens":1,"outputTokens":1,"usd":0.1}}'\n`,
      0o755,
    );
    rig.write(
      '.pi/taskflows/config.yaml',
      'runner: cfg\nrunners:\n  cfg: { command: [bin/who, cfg], format: text }\n' +
        '  priced: { command: [bin/priced], format: json }\n',
    );
  });
  const priced = { runner: 'priced', budget: { maxUSD: 1 } };
  const generated = [plan([ask]), { id: 'f', type: 'flow', def: '{steps.plan.json}' }];

  it('counts what a generated flow spends: it has no other runner than the flow around it', async () => {
    const result = await rig.run(flow(generated, priced));
    expect(result).toMatchObject({ output: 'paid', spent: { usd: 0.1 } });
    expect(rig.counts()).toEqual({ priced: 1 });
  });

  it('is refused before anything runs where a generated flow would have a runner that tells no price', async () => {
    await expect(rig.run(flow(generated, { budget: { maxUSD: 1 } }))).rejects.toThrow(/not report/);
    expect(rig.counts()).toEqual({});
  });

  it('calls nobody of unknown price in a flow that is known only later', async () => {
    rig.write('.pi/taskflows/sub.json', JSON.stringify({ name: 'sub', phases: [ask] }));
    const named = [
      { id: 'plan', type: 'script', run: ['printf', 'sub'] },
      { id: 'f', type: 'flow', use: '{steps.plan.output}' },
    ];
    const made = [plan([{ id: 'u', type: 'flow', use: 'sub' }]), generated[1]!];
    for (const phases of [named, made]) {
      const result = await rig.run(flow(phases, priced), { continuation: { how: 'fresh' } });
      expect(result.error?.message).toContain('cfg does not report what it costs');
    }
    expect(rig.counts()).toEqual({});
  });
});
