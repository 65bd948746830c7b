import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlanRig, EXAMPLE, GOOD, INPUT, OUTPUT, type PlanRig, TASK, WRONG } from '../assemble/support.js';
import { connectMcp, type McpClient } from '../support/mcp.js';
import { brand, until } from '../support/processes.js';

let rig: PlanRig;
let mcp: McpClient;
const { env, live } = brand();
const REQUEST = { task: TASK, input: INPUT, output: OUTPUT, examples: [EXAMPLE] };
const connect = () => connectMcp({ cwd: rig.root, env: { ...env, HOME: join(rig.root, '../home') } });

beforeEach(async () => {
  rig = createPlanRig();
  mcp = await connect();
});
afterEach(async () => {
  await mcp.close();
  rig.remove();
});

it('a flow is made for a task, and the next call takes the one that is there', async () => {
  rig.answers(WRONG, GOOD);
  const { value } = await mcp.call('assemble', REQUEST);
  expect(value).toMatchObject({ status: 'complete', rounds: 2, flow: { phases: [{ id: 'shout' }] } });
  expect(rig.counts()).toEqual({ plan: 2, shout: 2 });
  expect((await mcp.call('assemble', REQUEST)).value).toMatchObject({ status: 'complete', id: value.id, how: 'disk' });
  expect(rig.counts()).toEqual({ plan: 2, shout: 2 });
});

it('its steps are progress, as the command shows them', async () => {
  rig.answers(WRONG, GOOD);
  const steps: string[] = [];
  await mcp.call('assemble', REQUEST, (line) => steps.push(line));
  const told = steps.join('\n');
  expect(told).toMatch(/^1\/undefined Say a word loudly/);
  expect(told).toMatch(/\n2\/undefined ▸ round 1: asking scripted \(m-1\) for a flow\n/);
  expect(told).toMatch(/✖ round 1: example 1: the result is .*▸ round 2: asking .*✔ round 2: example 1 /s);
});

it('a flow that cannot be made says why', async () => {
  rig.answers(WRONG);
  const { value } = await mcp.call('assemble', { ...REQUEST, max_rounds: 1 });
  expect(value).toMatchObject({ status: 'incomplete', rounds: 1, error: { message: expect.any(String) } });
});

it('a client that hangs up leaves no process of it; the next call goes on from there', async () => {
  rig.answers(WRONG, { says: GOOD, sleepMs: 60_000 });
  const call = mcp.call('assemble', REQUEST).catch(() => {});
  await until(() => rig.counts()['plan'] === 2, 30_000);
  await mcp.close();
  await call;
  await until(() => live().length === 0, 20_000);
  rig.answers(GOOD);
  rig.forget();
  mcp = await connect();
  expect((await mcp.call('assemble', REQUEST)).value).toMatchObject({
    status: 'complete',
    how: 'continued',
    rounds: 2,
  });
  expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
});
