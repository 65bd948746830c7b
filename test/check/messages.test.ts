import { describe, expect, it } from 'vitest';
import { check } from './support.js';

async function told(phase: object, flow: object = {}): Promise<readonly string[]> {
  const { diagnostics } = await check({ ...flow, phases: [{ id: 'a', ...phase }] });
  return diagnostics.map(({ code, message, hint }) => [code, message, hint].filter(Boolean).join(' | '));
}

describe('what is said about a mistake is what the mistake is', () => {
  it.each([
    ['a timeout', { task: 'x', timeout: '99999999999999999w' }, {}],
    ['a default timeout', { task: 'x' }, { defaults: { timeout: '99999999999999999w' } }],
    ['a ttl', { task: 'x', cache: { scope: 'cross-run', ttl: '99999999999999999w' } }, {}],
  ])('%s that is too long is not one of nothing', async (_, phase, flow) => {
    expect(await told(phase, flow)).toEqual([expect.stringMatching(/^out-of-range \| "\w+" is too long$/)]);
  });

  it('a number in an argv is a text that lacks its quotes', async () => {
    expect(await told({ type: 'script', run: ['echo', 1, true] })).toEqual([
      'wrong-type | entry 2 of "run" has to be a text, not the number 1 | put it in quotes: "1"',
      'wrong-type | entry 3 of "run" has to be a text, not true | put it in quotes: "true"',
    ]);
    expect(await told({ task: 'x', join: 1 })).toEqual([expect.not.stringContaining('quotes')]);
  });

  it('placeholders do not work in the names of tools', async () => {
    expect(await told({ task: 'x', tools: ['read', '{steps.nope.output}'] })).toEqual([
      'placeholder-here | placeholders do not work in "tools"',
    ]);
  });

  it('a kind of fingerprint without its value', async () => {
    const cache = { scope: 'cross-run', fingerprint: ['git', 'env'] };
    expect(await told({ type: 'script', run: ['x'], cache })).toEqual([
      expect.stringContaining('| did you mean "git:HEAD"?'),
      expect.stringContaining('| did you mean "env:NODE_ENV"?'),
    ]);
  });

  it.each([
    ['contians', 'contains'],
    ['match', undefined],
    ['matchs', 'matches'],
  ])('%s in a condition', async (word, meant) => {
    const hint = meant ? `did you mean ${meant}?` : 'join parts with && or ||, and put text with spaces in quotes';
    const [said] = await told({ task: 'x', when: `{args.a} ${word} y` }, { args: { a: { default: '1' } } });
    expect(said).toBe(`bad-condition | this condition cannot be read: "${word}" is not expected here | ${hint}`);
  });

  it('a phase that resembles none is not suggested', async () => {
    expect(await told({ task: '{steps.q.output}' })).toEqual(['unknown-step | there is no phase "q"']);
  });
});
