import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256Hex } from '../../src/util/digest.js';
import { createMemoRig, cross, flow } from '../memo-e2e/support.js';
import { effort } from '../support/effort.js';

interface Identity {
  readonly body: { readonly argv: readonly string[] };
  readonly fingerprints: readonly { readonly value: string }[];
  readonly ordinal: number;
}

/**
 * Random edits of a large map between runs, against a model without shortcuts: an item is executed if and
 * only if nothing with the same words, argument, file and place among its equals has been kept. The clock is ahead of
 * the files, so that every file that can be trusted by its stamp is.
 */
const AHEAD = { laterMs: 10_000 };
const START = Array.from({ length: 52 }, (_, n) => `i${n}`);

const word = fc.constantFrom('{item}', 'say {item}', '{item} {args.name}', 'i0');
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('add' as const), item: fc.constantFrom('n1', 'n2', 'i3', 'i4') }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('move' as const), from: fc.nat(51) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('drop' as const), at: fc.nat(51) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('word' as const), word }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('name' as const), name: fc.constantFrom('a', 'b') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('file' as const), text: fc.constantFrom('one', 'two') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('evict' as const), at: fc.nat(1_000) }) },
);

test('an item of a map is executed if and only if its result is not kept, whatever is edited', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 9 }), async (steps) => {
      const rig = createMemoRig();
      try {
        let items = START;
        let text = '{item}';
        let name = 'a';
        let file = 'one';
        const kept = new Set<string>();
        const run = async () => {
          rig.write('in', file);
          const argument = { name: { type: 'string', default: name } };
          const phase = {
            id: 'each',
            type: 'map',
            over: items,
            run: ['bin/tick', 'each', text],
            cache: cross(['file:in']),
          };
          const seen = new Map<string, number>();
          const expected = items.map((item) => text.replace('{item}', item).replace('{args.name}', name));
          const keys = expected.map((rendered) => {
            const ordinal = seen.get(rendered) ?? 0;
            seen.set(rendered, ordinal + 1);
            return JSON.stringify([rendered, file, ordinal]);
          });
          const missing = keys.filter((key) => !kept.has(key));
          rig.forget();
          const result = await rig.runAs(AHEAD, flow([phase], { args: argument }));
          expect(result.status).toBe('success');
          expect(rig.executions()).toHaveLength(missing.length);
          expect(result.phases[0]!.json).toEqual(expected);
          for (const key of keys) kept.add(key);
        };
        await run();
        for (const edit of steps) {
          if (edit.do === 'add') items = [...items, edit.item];
          if (edit.do === 'drop') items = items.length > 50 ? items.filter((_, index) => index !== edit.at) : items;
          if (edit.do === 'move') {
            const from = edit.from % items.length;
            items = [items[from]!, ...items.filter((_, index) => index !== from)];
          }
          if (edit.do === 'word') text = edit.word;
          if (edit.do === 'name') name = edit.name;
          if (edit.do === 'file') file = edit.text;
          if (edit.do === 'evict') evict(edit.at);
          await run();
        }

        /** Of what is kept now: which key it was is told by what the entry says it was made from. */
        function evict(at: number): void {
          const paths = rig.entries();
          const index = at % paths.length;
          const { identity } = rig.entry(index) as unknown as { identity: Identity };
          const digest = identity.fingerprints[0]!.value;
          const words = identity.body.argv[2]!;
          for (const content of ['one', 'two']) {
            if (sha256Hex(content) === digest) kept.delete(JSON.stringify([words, content, identity.ordinal]));
          }
          rmSync(paths[index]!);
        }
      } finally {
        rig.remove();
      }
    }),
    { numRuns: effort(5, 40), seed: 20_261_116 },
  );
}, 400_000);
