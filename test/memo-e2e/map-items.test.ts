import { readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/run/core/result.js';
import { readLines } from '../../src/run/journal/reader.js';
import { textOf } from '../support/output-text.js';
import { phaseOf } from '../support/rig.js';
import { createMemoRig, cross, flow, type MemoRig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const ITEMS = Array.from({ length: 60 }, (_, n) => `x${n}`);
const PAIRS = ITEMS.map((a, n) => ({ a, b: n === 0 ? a : `${a}!` }));
const each = (items: readonly unknown[], more: object = {}, top: object = {}) =>
  flow([{ id: 'each', type: 'map', over: items, run: ['bin/tick', 'each', '{item}'], cache: cross(), ...more }], top);

const outputsOf = (result: RunResult) => phaseOf(result, 'each').json;

/** What the journal says that each item said, in its order. */
const journalled = ({ runId }: RunResult) =>
  [...readLines(join(rig.root, `.pi/taskflows/runs/${runId}/journal.jsonl`))].flatMap(({ line }) =>
    line.type === 'unit' ? [[line.unit, textOf(line.output)]] : [],
  );

async function count(...run: Parameters<MemoRig['executed']>): Promise<number> {
  return (await rig.executed(...run))['each'] ?? 0;
}

describe('items of an earlier run', () => {
  it('are those of any order, and of equal ones each has its own', async () => {
    await rig.run(each(ITEMS));
    const fresh = { continuation: { how: 'fresh' } } as const;
    const reversed = await rig.run(each(ITEMS.toReversed()), fresh);
    expect(outputsOf(reversed)).toEqual(ITEMS.toReversed());
    expect(journalled(reversed)).toEqual(ITEMS.toReversed().map((item, n) => [`item ${n + 1}`, item]));
    const again = await rig.run(each(ITEMS.toReversed()), fresh);
    expect(journalled(again)).toEqual(journalled(reversed));
    expect(await count(each([...ITEMS, 'x5']))).toBe(1);
    expect(await count(each(['x5', ...ITEMS]))).toBe(0);
    expect(await count(each([...ITEMS, 'x5', 'x5']))).toBe(1);
  });
});

describe('items are executed again', () => {
  const cases: [string, object, () => object, number][] = [
    [
      'when the phase is written otherwise, though the first item would come to the same',
      each(PAIRS, { run: ['bin/tick', 'each', '{item.a}'] }),
      () => each(PAIRS, { run: ['bin/tick', 'each', '{item.b}'] }),
      59,
    ],
    [
      'when arguments are others, though the first item would come to the same',
      each(['2', ...ITEMS], { run: ['bin/tick', 'each', '{args.a}{item}{args.b}'] }, { args: given('1', '23') }),
      () => each(['2', ...ITEMS], { run: ['bin/tick', 'each', '{args.a}{item}{args.b}'] }, { args: given('12', '3') }),
      60,
    ],
    [
      'when a file is another',
      each(ITEMS, { cache: cross(['file:in']) }),
      edited('in', each(ITEMS, { cache: cross(['file:in']) })),
      60,
    ],
    ['when their entry is gone', each(ITEMS), withEntry((path) => rmSync(path)), 1],
    ['when their entry is damaged', each(ITEMS), withEntry((path) => truncateSync(path, 100)), 1],
    [
      'when a phase above was made from something else',
      flow([above('one'), ...each(ITEMS, { dependsOn: ['above'] }).phases]),
      () => flow([above('two'), ...each(ITEMS, { dependsOn: ['above'] }).phases]),
      60,
    ],
  ];
  it.each(cases)('%s', async (_name, before, after, executions) => {
    rig.write('in', 'one');
    await rig.run(before);
    expect(await count(before)).toBe(0);
    expect(await count(after())).toBe(executions);
    expect(await count()).toBe(0);
  });

  it('when one that is executed changes what the others are made from', async () => {
    rig.write('in', 'one');
    const cache = cross(['file:in']);
    const run = ['sh', '-c', 'bin/tick each "$1"; if [ "$1" = new ]; then echo two > in; fi', 'sh', '{item}'];
    await rig.run(each(ITEMS, { run, cache, concurrency: 1 }));
    const more = [...ITEMS.slice(0, 40), 'new', ...ITEMS.slice(40)];
    expect(await count(each(more, { run, cache, concurrency: 1 }))).toBe(21);
  });

  it('when they are too old', async () => {
    const aged = each(ITEMS, { cache: cross([], { ttl: '20m' }) });
    await rig.run(aged);
    rig.forget();
    await rig.runAs({ laterMs: 10 * 60_000 });
    expect(rig.counts()).toEqual({});
    await rig.runAs({ laterMs: 30 * 60_000 });
    expect(rig.counts()).toEqual({ each: 60 });
  });

  function above(text: string): object {
    return { id: 'above', type: 'script', run: ['echo', text], cache: cross() };
  }

  function given(a: string, b: string): object {
    return { a: { type: 'string', default: a }, b: { type: 'string', default: b } };
  }

  function edited(file: string, same: object): () => object {
    return () => {
      rig.write(file, 'two');
      return same;
    };
  }

  function withEntry(change: (path: string) => void): () => object {
    return () => {
      change(rig.entries().find((path) => readFileSync(path, 'utf8').includes('"text":"x9"'))!);
      return each(ITEMS);
    };
  }
});
