import { existsSync, readdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clearEntries } from '../../src/store/clear-entries.js';
import { collectGarbage } from '../../src/store/collect-garbage.js';
import { type DiskStore, openStore } from '../../src/store/disk-store.js';
import { newHolder } from '../../src/store/holder.js';
import { claimPath, entryPath } from '../../src/store/paths.js';
import type { Entry } from '../../src/store/store.js';
import { key, LIMITS, makeEntry, type Scratch, scratch } from '../contracts/store-support.js';
import { effort } from '../support/effort.js';
import { listEntries } from '../support/list-entries.js';
import { textOf } from '../support/output-text.js';

/** What a store is, without anything that makes one hard. */
interface Model {
  readonly entries: Map<string, { text: string; flow: string; usedAt: number }>;
}

interface Real {
  readonly place: Scratch;
  /** As many processes would have: none knows of the others. */
  stores: DiskStore[];
}

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const FLOWS = ['f1', 'f2'];

type Step =
  | {
      readonly do: 'put' | 'claim';
      readonly name: string;
      readonly text: string;
      readonly flow: string;
      readonly by: number;
    }
  | { readonly do: 'get' | 'remove' | 'die' | 'fail'; readonly name: string; readonly by: number }
  | {
      readonly do: 'damage';
      readonly name: string;
      readonly how: 'cut' | 'flip' | 'empty' | 'grow';
      readonly at: number;
    }
  | { readonly do: 'evict'; readonly keep: number }
  | { readonly do: 'clear'; readonly flow: string }
  | { readonly do: 'lose'; readonly what: 'index.json' | 'collect.json' }
  | { readonly do: 'restart' };

const name = fc.constantFrom(...NAMES);
const by = fc.nat({ max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('put' as const, 'claim' as const),
      name,
      text: fc.string(),
      flow: fc.constantFrom(...FLOWS),
      by,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('get' as const, 'remove' as const, 'die' as const, 'fail' as const),
      name,
      by,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('damage' as const),
      name,
      how: fc.constantFrom('cut', 'flip', 'empty', 'grow'),
      at: fc.nat(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('evict' as const), keep: fc.nat({ max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), flow: fc.constantFrom(...FLOWS) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('lose' as const), what: fc.constantFrom('index.json', 'collect.json') }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
);

/** Times that a file system keeps exactly, each later than the last. */
let clock = 1_600_000_000;

function entryOf(what: string, text: string, flow: string): Entry {
  return makeEntry(what, { output: { text, json: null }, flow, createdAt: 1 });
}

async function take(step: Step, model: Model, { place, stores }: Real): Promise<DiskStore[]> {
  const path = (what: string) => entryPath(place.dir, key(what));
  const record = (what: string, text: string, flow: string) => {
    clock += 10;
    utimesSync(path(what), clock, clock);
    model.entries.set(what, { text, flow, usedAt: clock });
  };
  switch (step.do) {
    case 'put':
      expect(stores[step.by]!.put(entryOf(step.name, step.text, step.flow))).toEqual({ stored: true });
      record(step.name, step.text, step.flow);
      break;
    case 'claim': {
      const store = stores[step.by]!;
      let turn = await store.claim(key(step.name), {});
      // What is there already is announced once; who does not want it asks again.
      if ('ready' in turn) turn = await store.claim(key(step.name), {});
      if (!('claim' in turn)) throw new Error(`no claim: ${JSON.stringify(turn)}`);
      expect(turn.claim.put(entryOf(step.name, step.text, step.flow))).toEqual({ stored: true });
      record(step.name, step.text, step.flow);
      break;
    }
    case 'fail': {
      const turn = await stores[step.by]!.claim(key(step.name), {});
      if ('claim' in turn) turn.claim.release();
      break;
    }
    case 'die':
      // A process that died while it computed, or while it wrote.
      stores[step.by]!.peek(key(step.name), { now: clock * 1_000 });
      if (existsSync(place.dir) && !existsSync(claimPath(place.dir, key(step.name)))) {
        writeFileSync(
          claimPath(place.dir, key(step.name)),
          `{"holder":${JSON.stringify({ ...newHolder(), startTicks: 1 })}\n,"form`,
        );
      }
      break;
    case 'remove':
      stores[step.by]!.remove(key(step.name));
      model.entries.delete(step.name);
      break;
    case 'damage':
      if (!model.entries.has(step.name)) break;
      damage(path(step.name), step.how, step.at);
      model.entries.delete(step.name);
      break;
    case 'evict': {
      await collectGarbage(place.options(), {
        limits: { ...LIMITS, maxEntries: step.keep, maxAgeMs: Number.MAX_SAFE_INTEGER },
      });
      const oldest = [...model.entries].sort(([, a], [, b]) => a.usedAt - b.usedAt);
      for (const [what] of oldest.slice(0, Math.max(0, oldest.length - step.keep))) model.entries.delete(what);
      break;
    }
    case 'clear':
      await clearEntries(place.options(), { flow: step.flow });
      for (const [what, { flow }] of model.entries) if (flow === step.flow) model.entries.delete(what);
      break;
    case 'lose':
      if (existsSync(place.dir)) writeFileSync(join(place.dir, step.what), 'garbage');
      break;
    case 'restart':
      return stores.map(() => openStore(place.options()));
  }
  return stores;
}

function damage(path: string, how: 'cut' | 'flip' | 'empty' | 'grow', at: number): void {
  const bytes = readFileSync(path);
  if (how === 'cut') truncateSync(path, at % bytes.length);
  if (how === 'empty') truncateSync(path, 0);
  if (how === 'grow') writeFileSync(path, Buffer.concat([bytes, Buffer.from('x')]));
  if (how === 'flip') {
    bytes[at % bytes.length] = bytes[at % bytes.length]! ^ 1;
    writeFileSync(path, bytes);
  }
}

/** Everybody sees exactly what the map says. A look does not count as use. */
async function compare(model: Model, { place, stores }: Real): Promise<void> {
  for (const what of NAMES) {
    const expected = model.entries.get(what)?.text;
    for (const store of stores) {
      const got = store.peek(key(what), { now: clock * 1_000 });
      const text = 'entry' in got ? textOf(got.entry.output) : undefined;
      expect(text, what).toBe(expected);
    }
  }
  expect((await listEntries(place.options())).map((row) => row.key).sort()).toEqual(
    [...model.entries.keys()].map(key).sort(),
  );
}

test('whatever happens to a store, it holds what a map would hold', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const place = scratch();
      const real: Real = { place, stores: [0, 1, 2].map(() => openStore(place.options())) };
      const model: Model = { entries: new Map() };
      try {
        for (const next of steps) {
          real.stores = await take(next, model, real);
          for (const store of real.stores) store.log.flush();
          await compare(model, real);
        }
        await collectGarbage(place.options(), { limits: { ...LIMITS, maxAgeMs: Number.MAX_SAFE_INTEGER } });
        await compare(model, real);
        const left = existsSync(place.dir)
          ? readdirSync(place.dir).filter((file) => /claim|tmp|guard|lock/.test(file))
          : [];
        expect(left).toEqual([]);
        expect(place.warnings).toEqual([]);
      } finally {
        place.remove();
      }
    }),
    { numRuns: effort(40, 500) },
  );
}, 400_000);
