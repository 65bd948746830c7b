import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFlow } from '../../src/index.js';
import { createRig, phaseOf, type Rig } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

/** Maps over what a program printed, and says which items came of it. */
const mapped = async (printed: string, over = '{steps.said.output}') => {
  const said = { id: 'said', type: 'script', run: ['printf', '%s', printed] };
  const each = { id: 'each', type: 'map', over, run: ['bin/tick', 'each', '{item}'] };
  const result = await rig.run({ name: 'over', phases: [said, each] });
  const { json, remark, error } = phaseOf(result, 'each');
  return { items: json, remark, error: error?.message };
};

describe('over', () => {
  it.each([
    ['a JSON list in a text', '["a", "b"]', 'over: took the JSON list in the text'],
    ['one item per line', 'a\nb\n', 'over: took one item per line'],
    [
      'the list under a usual name',
      '{"findings": ["a", "b"], "seen": ["x"]}',
      'over: took the list "findings" of the object',
    ],
    [
      'the only list of an object',
      'Here: {"files": ["a", "b"], "count": 2}',
      'over: took the list "files" of the object',
    ],
  ])('takes %s, and says so', async (_what, printed, remark) => {
    expect(await mapped(printed)).toEqual({ items: ['a', 'b'], remark, error: undefined });
    expect(rig.counts()).toEqual({ each: 2 });
  });

  it('that is a list needs no remark', async () => {
    expect(await mapped('["a"]', '{steps.said.json}')).toEqual({ items: ['a'], remark: undefined, error: undefined });
  });

  it.each([
    ['two lists', '{"left": ["a"], "right": ["b"]}', 'several lists (left, right)'],
    ['two lists under usual names', '{"items": ["a"], "data": ["b"]}', 'several lists (items, data)'],
    ['no list', '{"count": 2}', '{"count":2} has no list in it'],
    ['a number', '7', 'no list: 7'],
  ])('with %s fails, because nobody can say what was meant', async (_what, printed, message) => {
    expect((await mapped(printed)).error).toContain(message);
    expect(rig.counts()).toEqual({});
  });

  it('may be written as JSON text or as lines; one word is a mistake', async () => {
    const run = async (over: string) => {
      const each = { id: 'each', type: 'map', over, run: ['bin/tick', 'each', '{item}'] };
      rig.write('flow.json', JSON.stringify({ name: 'over', phases: [each] }));
      const { ok } = await checkFlow(rig.project, './flow.json');
      return ok ? phaseOf(await rig.run(), 'each').json : 'refused';
    };
    expect(await run('["a", "b"]')).toEqual(['a', 'b']);
    expect(await run('a\nb\n')).toEqual(['a', 'b']);
    expect(await run('files')).toBe('refused');
  });
});
