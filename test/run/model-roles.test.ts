import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFlow } from '../../src/index.js';
import { createRig, phaseOf, type Rig } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
  // Answers with the model that it was started with.
  rig.write('bin/agent', '#!/bin/sh\ncat > /dev/null\necho agent >> ../log\necho "$TASKFLOW_MODEL"\n', 0o755);
  settings('strong: big-1');
});
afterEach(() => rig.remove());

const settings = (models: string) =>
  rig.write(
    '.pi/taskflows/config.yaml',
    `runner: rig\nmodels: { ${models} }\nrunners:\n  rig: { command: [bin/agent], format: text, model: plain-1 }\n`,
  );
const asking = (more: object, flow: object = {}) => ({
  name: 'roles',
  ...flow,
  phases: [{ id: 'a', task: 'x', ...more }],
});
const check = async (flow: object) => {
  rig.write('flow.json', JSON.stringify(flow));
  return (await checkFlow(rig.project, './flow.json')).diagnostics;
};

describe('a model role', () => {
  it.each([
    ['on a phase', asking({ model: '{{strong}}' })],
    ['on a flow', asking({}, { model: '{{ strong }}' })],
    ['in an agent file', asking({ agent: 'roled' })],
  ])('%s is the model that the settings name', async (_where, flow) => {
    rig.write('.pi/agents/roled.md', '---\nname: roled\nmodel: "{{strong}}"\n---\nBe good.');
    expect((await rig.run(flow)).output).toBe('big-1');
  });

  it('that is given another model is other work', async () => {
    const flow = asking({ model: '{{strong}}', cache: { scope: 'cross-run', fingerprint: [] } });
    await rig.run(flow);
    expect(phaseOf(await rig.run(flow, { continuation: { how: 'fresh' } }), 'a').cacheHit).toBe('cross-run');
    settings('strong: big-2');
    expect((await rig.run(flow, { continuation: { how: 'fresh' } })).output).toBe('big-2');
    expect(rig.counts()).toEqual({ agent: 2 });
  });

  it('that the settings do not know is an error of the check, which says what to write', async () => {
    const branch = (model: string) => ({ id: 'b', type: 'parallel', branches: [{ task: 'x', model }] });
    expect(await check({ name: 'roles', phases: [branch('{{vision}}')] })).toMatchObject([
      {
        code: 'unknown-model',
        severity: 'error',
        message: 'no model is set for the role {{vision}}',
        hint: 'say which one it is: taskflow config set models.vision MODEL',
      },
    ]);
    const near = await check({ name: 'roles', phases: [branch('{{stong}}')] });
    expect(near).toMatchObject([{ hint: 'did you mean "strong"?' }]);
  });

  it('of an agent file counts only where the flow names no model itself', async () => {
    rig.write('.pi/agents/roled.md', '---\nname: roled\nmodel: "{{vision}}"\n---\nBe good.');
    expect(await check(asking({ agent: 'roled' }))).toMatchObject([{ code: 'unknown-model' }]);
    expect(await check(asking({ agent: 'roled', model: 'own-1' }))).toEqual([]);
  });

  it('is found as soon as the settings have it, though the file was checked before', async () => {
    expect(await check(asking({ model: '{{fast}}' }))).toHaveLength(1);
    settings('fast: small-1');
    expect(await check(asking({ model: '{{fast}}' }))).toEqual([]);
    settings('strong: big-1');
    expect(await check(asking({ model: '{{fast}}' }))).toHaveLength(1);
  });

  it('of a program is in the settings that the program gives', async () => {
    rig.write('flow.json', JSON.stringify(asking({ model: '{{fast}}' })));
    const given = (models: Record<string, string>) => checkFlow(rig.project, './flow.json', { config: { models } });
    expect(await given({ fast: 'm' })).toMatchObject({ ok: true });
    expect(await given({})).toMatchObject({ ok: false });
  });
});
