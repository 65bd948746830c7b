import { expect, test } from 'vitest';
import { crossRunProblem, hitWords, lookUp } from '../../src/memo/look-up.js';
import type { Flow, Phase } from '../../src/model/flow.js';
import { memoryStore } from '../contracts/memory-store.js';
import { key, makeEntry } from '../contracts/store-support.js';

const now = 1_700_000_000_000;

function phase(more: object): Phase {
  return { id: 'x', kind: 'script', idempotent: true, cache: { scope: 'cross-run' }, ...more } as unknown as Phase;
}

test('a hit knows its age and what it saves', () => {
  const store = memoryStore();
  store.put(makeEntry('a', { createdAt: now - 360_000, durationMs: 12_000 }));
  const found = lookUp(store, key('a'), { now });
  if (!('hit' in found)) throw new Error('no hit');
  expect(found.hit).toMatchObject({ ageMs: 360_000, saved: { usd: 0.04, tokens: 15, ms: 12_000 } });
  expect(hitWords(found.hit)).toBe('cross-run · age 6m · saved $0.04, 12s');
});

test('money is not mentioned where there was none, and an unknown price is not a price of nothing', () => {
  const store = memoryStore();
  const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
  store.put(makeEntry('a', { createdAt: now, usage, durationMs: 500 }));
  const found = lookUp(store, key('a'), { now });
  expect('hit' in found && hitWords(found.hit)).toBe('cross-run · age 0ms · saved 500ms');
});

test('a miss has its reason', () => {
  expect(lookUp(memoryStore(), key('a'), { now })).toEqual({ miss: { code: 'absent', reason: 'no entry' } });
});

test('gates, approvals, side effects and whatever contains one may not be reused, at any depth', () => {
  const inline = (...phases: Phase[]) =>
    phase({ kind: 'flow', source: { from: 'inline', flow: { phases } as unknown as Flow } });
  expect(crossRunProblem(phase({}))).toBeUndefined();
  expect(crossRunProblem(inline(phase({})))).toBeUndefined();
  for (const bad of [
    phase({ kind: 'gate' }),
    phase({ kind: 'approval' }),
    phase({ idempotent: false }),
    inline(phase({ kind: 'gate' })),
    inline(phase({}), inline(inline(phase({ kind: 'approval' })))),
    inline(phase({ cache: { scope: 'off' } })),
    phase({ kind: 'expand', source: { from: 'inline', flow: { phases: [phase({ idempotent: false })] } } }),
  ]) {
    expect(crossRunProblem(bad)).toBeTypeOf('string');
  }
});
