import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFlow, FlowError, type GivenConfig, loadFlow, loadSettings, runFlow } from '../../src/index.js';
import { createRig, type Rig } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
  rig.write('bin/mine', '#!/bin/sh\ncat > /dev/null\nbin/tick mine "mine said so"\n', 0o755);
  rig.write('flow.json', JSON.stringify({ name: 'named', phases: [{ id: 'a', task: 'Go.', runner: 'mine' }] }));
});
afterEach(() => rig.remove());

/** Nothing of it stands in a settings file. */
const config: GivenConfig = { runners: { mine: { type: 'command', command: ['bin/mine'], format: 'text' } } };
const load = (options = {}) => loadFlow(rig.project, './flow.json', options);

describe('a runner that only the given settings define', () => {
  it('can be named by a flow that is loaded with them, and answers when it runs', async () => {
    const loaded = await load({ config });
    expect(await runFlow(rig.project, loaded).result).toMatchObject({ status: 'success', output: 'mine said so' });
    expect(rig.counts()).toEqual({ mine: 1 });
    expect(await checkFlow(rig.project, './flow.json', { config })).toEqual({ ok: true, diagnostics: [] });
  });

  it('is unknown without them, whatever was checked before', async () => {
    await load({ config });
    const refused = await load().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(FlowError);
    expect((refused as FlowError).diagnostics).toMatchObject([{ code: 'unknown-runner' }]);
    expect(await checkFlow(rig.project, './flow.json')).toMatchObject({ ok: false });
    await expect(load({ config: {} })).rejects.toThrow('there is no runner "mine"');
  });

  it('can be named by flows inside, whether they are known beforehand or not', async () => {
    rig.write('.pi/taskflows/inner.json', rig.read('flow.json'));
    const inner = JSON.stringify({ phases: [{ id: 'x', type: 'flow', use: 'inner' }] });
    const phases = [
      { id: 'known', type: 'flow', use: 'inner' },
      { id: 'name', type: 'script', run: ['echo', 'inner'] },
      { id: 'later', type: 'flow', use: '{steps.name.output}' },
      { id: 'plan', type: 'script', run: ['echo', inner], output: 'json' },
      { id: 'made', type: 'flow', def: '{steps.plan.json}' },
      { id: 'all', type: 'script', run: ['echo', '{steps.known.output}, {steps.later.output}, {steps.made.output}'] },
    ];
    rig.write('flow.json', JSON.stringify({ name: 'outer', phases }));
    const { result } = runFlow(rig.project, await load({ config }));
    expect((await result).output).toBe('mine said so, mine said so, mine said so');
  });
});

it('settings that are given stand instead of the files, and what they leave out has its default', async () => {
  const loaded = await load({ config });
  expect(loaded.config).toMatchObject({ runners: { mine: {} }, cache: { dir: '.pi/taskflows/cache' } });
  expect(loaded.config?.runner).toBeUndefined();
  const settings = await loadSettings(rig.project);
  expect(Object.keys(settings.runners)).toEqual(['rig']);
  const both = { ...settings, runners: { ...settings.runners, ...config.runners } };
  rig.write(
    'flow.json',
    JSON.stringify({
      phases: [
        { id: 'a', task: 'SAY: rig' },
        { id: 'b', task: '{steps.a.output}', runner: 'mine' },
      ],
    }),
  );
  expect((await runFlow(rig.project, await load({ config: both })).result).phases.map(({ output }) => output)).toEqual([
    'rig',
    'mine said so',
  ]);
});

it('a run may be given others than its flow was loaded with', async () => {
  const loaded = await load({ config });
  rig.write('bin/other', '#!/bin/sh\ncat > /dev/null\necho other\n', 0o755);
  const other: GivenConfig = { runners: { mine: { type: 'command', command: ['bin/other'], format: 'text' } } };
  expect((await runFlow(rig.project, loaded, { config: other }).result).output).toBe('other');
});

it('what a runner is follows from its fields where it is not said, and is asked for where it does not', async () => {
  const bare = { runners: { mine: { command: ['bin/mine'], format: 'text' } } } as const;
  expect((await runFlow(rig.project, await load({ config: bare })).result).output).toBe('mine said so');
  await expect(load({ config: { runners: { mine: { model: 'm' } } } })).rejects.toThrow('does not say what it is');
  await expect(load({ config: { runners: { mine: { type: 'openai' } } } })).rejects.toThrow('needs baseUrl');
  const { result } = runFlow(rig.project, await load({ config }), { config: { runners: { mine: {} } } });
  await expect(result).rejects.toThrow('runner mine');
});
