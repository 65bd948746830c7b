import { describe, expect, it } from 'vitest';
import { checkFlowText } from '../../src/check/check-flow.js';
import { diskWorld } from '../../src/check/world.js';
import { check, makeProject } from './support.js';

const FORBIDDEN = ['__proto__', 'constructor', 'prototype'];

async function codes(value: unknown): Promise<readonly string[]> {
  return (await check(value)).diagnostics.map(({ code }) => code);
}

describe('names that reach into JavaScript objects', () => {
  it.each(FORBIDDEN)('%s is refused wherever something is named', async (name) => {
    const branches = [{ id: name, task: 'x' }];
    expect(await codes({ name, phases: [{ id: 'a', task: 'x' }] })).toEqual(['forbidden-name']);
    expect(await codes({ phases: [{ id: name, task: 'x' }] })).toEqual(['forbidden-name']);
    expect(await codes({ phases: [{ id: 'a', type: 'parallel', branches }] })).toEqual(['forbidden-name']);
    expect(await codes({ phases: [{ id: 'a', type: 'map', over: [1], as: name, task: 'x' }] })).toEqual([
      'forbidden-name',
    ]);
    expect(await codes({ phases: [{ id: 'a', type: 'flow', def: { name, task: 'x' } }] })).toEqual(['forbidden-name']);
  });

  it('is not taken from the name of a file either', async () => {
    const world = diskWorld(makeProject());
    const { flow } = await checkFlowText({ file: 'constructor.yaml', text: 'task: x', world });
    expect(flow?.name).toBe('flow');
  });
});

describe('the name that a map gives its item', () => {
  it.each(['args', 'steps', 'previous', 'loop', 'reflexion'])('cannot be %s, which placeholders know', async (name) => {
    const { diagnostics } = await check({ phases: [{ id: 'a', type: 'map', over: [1], as: name, task: 'x' }] });
    expect(diagnostics).toMatchObject([{ code: 'bad-value', hint: expect.stringContaining('as: file') }]);
  });

  it.each(['item', 'step', 'argsy', 'steps-of', 'loops'])('may be %s', async (name) => {
    expect(await codes({ phases: [{ id: 'a', type: 'map', over: [1], as: name, task: `{${name}}` }] })).toEqual([]);
  });
});
