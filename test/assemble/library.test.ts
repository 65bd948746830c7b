import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AssembleEvent } from '../../src/assemble/events.js';
import { assembleFlow, runFlow } from '../../src/index.js';
import { createPlanRig, EXAMPLE, GOOD, INPUT, OUTPUT, type PlanRig, UNCHECKED, WRONG } from './support.js';

let rig: PlanRig;
beforeEach(() => {
  rig = createPlanRig();
});
afterEach(() => rig.remove());

const request = { task: 'Say a word loudly', input: INPUT, output: OUTPUT, examples: [EXAMPLE] };

it('plans, takes from memory, takes from disk, and gives a flow that can be run', async () => {
  rig.answers(UNCHECKED, GOOD);
  const handle = assembleFlow(rig.project, request);
  const events: AssembleEvent[] = [];
  for await (const event of handle.events) events.push(event);
  const made = await handle.result;
  if (made.status !== 'complete') throw new Error(made.error);
  expect(made).toMatchObject({ how: 'planned', spent: { usd: expect.closeTo(0.03) } });
  expect(events.map(({ type }) => type.replace('assemble-', ''))).toEqual([
    'start',
    'asking',
    'answered',
    'checked',
    'asking',
    'answered',
    'checked',
    'trying',
    'tried',
    'stored',
  ]);
  const result = await runFlow(rig.project, made.flow, { args: { word: 'hey' } }).result;
  expect(result).toMatchObject({ status: 'success', json: { loud: 'HEY' } });
  rig.forget();
  expect(await assembleFlow(rig.project, request).result).toMatchObject({ how: 'memory', id: made.id });
  // What is remembered does not depend on the disk.
  rmSync(join(rig.root, '.pi/taskflows/assembled'), { recursive: true });
  expect(await assembleFlow(rig.project, request).result).toMatchObject({ how: 'memory' });
  expect(rig.counts()).toEqual({});
});

it('what is remembered is not taken once something that it uses has changed', async () => {
  rig.write('.pi/agents/crier.md', 'Shout.');
  rig.answers({ phases: [{ ...GOOD.phases[0], agent: 'crier' }] });
  await assembleFlow(rig.project, request).result;
  rig.write('.pi/agents/crier.md', 'Louder.');
  rig.forget();
  expect(await assembleFlow(rig.project, request).result).toMatchObject({ how: 'repaired' });
  expect(rig.counts()).toEqual({ shout: 1 });
});

it('an attempt that comes to nothing is a value; a request that cannot be is an error', async () => {
  rig.answers(WRONG);
  expect(await assembleFlow(rig.project, request, { maxRounds: 1 }).result).toMatchObject({
    status: 'incomplete',
    ended: 'rounds',
    error: expect.stringContaining('the example 1 failed'),
    definition: { name: 'say-a-word-loudly' },
  });
  const bad = { ...request, examples: [{ input: { word: 1 } }] };
  await expect(assembleFlow(rig.project, bad).result).rejects.toThrow('does not fit its schema');
});

it('two calls at once plan once, and a signal ends both', async () => {
  rig.answers({ says: GOOD, sleepMs: 700 });
  const both = await Promise.all([
    assembleFlow(rig.project, request).result,
    assembleFlow(rig.project, request).result,
  ]);
  expect(both.map((one) => one.status)).toEqual(['complete', 'complete']);
  expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
  rig.answers({ says: GOOD, sleepMs: 60_000 });
  const abort = new AbortController();
  const { result } = assembleFlow(rig.project, request, { replan: true, signal: abort.signal });
  setTimeout(() => abort.abort(), 500);
  expect(await result).toMatchObject({ status: 'incomplete', ended: 'interrupted' });
});
