import { readFileSync, rmSync, truncateSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { loadFlow } from '../../src/index.js';
import { forecastRun } from '../../src/run/forecast/forecast.js';
import { createMemoRig, type MemoRig } from '../memo-e2e/support.js';
import { effort } from '../support/effort.js';
import { type Files, Model, type Node, phaseOf, STEP } from './memo-model.js';

/** Across runs alone: what a continued run reuses besides is the subject of another test. */
const AFRESH = { how: 'fresh' } as const;
const FILES = ['f0', 'f1', 'f2'];
/** Two that begin alike: one content for what a step says, two for what it is made from. */
const CONTENTS = ['a1', 'a2', 'b1'];
const WORDS = ['u', 'v', 'w'];
const ITEMS = ['x', 'y', 'z'];

const nodeArbitrary = (index: number): fc.Arbitrary<Node> =>
  fc
    .record({
      word: fc.constantFrom(...WORDS),
      files: fc.subarray(FILES, { maxLength: 2 }),
      needs: fc.subarray(
        Array.from({ length: index }, (_, at) => `p${at}`),
        { maxLength: Math.min(2, index) },
      ),
      quoted: fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }),
      kind: fc.constantFrom('script' as const, 'script' as const, 'map' as const, 'nested' as const),
      items: fc.array(fc.constantFrom(...ITEMS), { minLength: 1, maxLength: 3 }),
    })
    .map(({ word, files, needs, quoted, kind, items }) => ({
      id: `p${index}`,
      word,
      files,
      needs: needs.map((id, at) => ({ id, quoted: quoted[at]! })),
      ...(kind === 'map' ? { kind, items } : { kind }),
    }));

const nodesArbitrary = fc
  .integer({ min: 2, max: 5 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => nodeArbitrary(index))));

const at = fc.nat({ max: 99 });
const editArbitrary = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('file' as const),
      file: fc.constantFrom(...FILES),
      content: fc.constantFrom(...CONTENTS),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('word' as const), at, word: fc.constantFrom(...WORDS) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('items' as const),
      at,
      items: fc.array(fc.constantFrom(...ITEMS), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('cosmetic' as const), seed: at }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('clear' as const), at }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('damage' as const), at }) },
  { weight: 1, arbitrary: fc.constant({ type: 'refresh' as const }) },
);
type Edit = typeof editArbitrary extends fc.Arbitrary<infer E> ? E : never;

/** What does not decide anything, differently for every seed. */
function cosmetic(phase: object, seed: number): object {
  const more = {
    description: `seed ${seed}`,
    timeout: 60_000 + seed,
    ...(seed % 2 ? { retry: { max: seed } } : {}),
    ...(seed % 3 ? { optional: true } : {}),
  };
  const entries = Object.entries({ ...phase, ...more });
  return Object.fromEntries(seed % 5 === 0 ? entries.reverse() : entries);
}

/** Undefined for an entry that was damaged before. */
function phaseIn(path: string): string | undefined {
  return /"phase":"([^"]*)"/.exec(readFileSync(path, 'utf8'))?.[1];
}

class Trial {
  readonly #model = new Model();
  #files: Files = Object.fromEntries(FILES.map((name) => [name, CONTENTS[0]!]));
  #seed = 0;

  constructor(
    private readonly rig: MemoRig,
    private nodes: readonly Node[],
  ) {
    rig.write('bin/step', STEP, 0o755);
  }

  async go(edits: readonly Edit[]): Promise<void> {
    await this.#check();
    for (const edit of edits) await this.#check(this.#apply(edit));
  }

  #apply(edit: Edit): { refresh?: boolean } {
    const pick = (index: number) => this.nodes[index % this.nodes.length]!;
    const change = (id: string, more: object) => {
      this.nodes = this.nodes.map((node) => (node.id === id ? ({ ...node, ...more } as Node) : node));
    };
    if (edit.type === 'file') this.#files = { ...this.#files, [edit.file]: edit.content };
    if (edit.type === 'word') change(pick(edit.at).id, { word: edit.word });
    if (edit.type === 'items' && pick(edit.at).kind === 'map') change(pick(edit.at).id, { items: edit.items });
    if (edit.type === 'cosmetic') this.#seed = edit.seed;
    if (edit.type === 'clear' || edit.type === 'damage') {
      const { id } = pick(edit.at);
      this.#model.clear(id);
      for (const path of this.rig.entries().filter((name) => phaseIn(name) === id)) {
        if (edit.type === 'clear') rmSync(path);
        // A damaged entry is as good as none.
        else truncateSync(path, 200);
      }
    }
    return { refresh: edit.type === 'refresh' };
  }

  async #check({ refresh = false } = {}): Promise<void> {
    const { rig } = this;
    for (const [name, content] of Object.entries(this.#files)) rig.write(name, content);
    const phases = this.nodes.map((node) => cosmetic(phaseOf(node), this.#seed));
    rig.write('flow.json', JSON.stringify({ name: 'random', description: `seed ${this.#seed}`, phases }));
    const forecast = await this.#forecast(refresh);
    const predicted = this.#model.run(this.nodes, this.#files, { refresh });
    rig.forget();
    const result = await rig.runAs({}, undefined, { reuse: refresh ? 'refresh' : 'on', continuation: AFRESH });
    expect(result.status).toBe('success');
    expect(rig.executions().sort()).toEqual(predicted.executed);
    expect(Object.fromEntries(result.phases.map(({ id, output }) => [id, output]))).toEqual(predicted.outputs);
    const reused = result.phases.filter(({ cacheHit }) => cacheHit !== null).map(({ id }) => id);
    expect(reused).toEqual(this.nodes.map(({ id }) => id).filter((id) => predicted.hits.has(id)));
    // A forecast that promises reuse is right; below what would run it promises nothing.
    for (const id of forecast) expect(predicted.hits).toContain(id);
    if (predicted.executed.length === 0) expect(forecast).toHaveLength(this.nodes.length);
  }

  async #forecast(refresh: boolean): Promise<readonly string[]> {
    const { project } = this.rig;
    const loaded = await loadFlow(project, './flow.json');
    const { config } = await loadConfig(project);
    const source = { ref: './flow.json', byName: false, file: loaded.file, digest: loaded.digest };
    const told = await forecastRun({
      project,
      config,
      flow: loaded.flow,
      source,
      args: {},
      reuse: refresh ? 'refresh' : 'on',
      continuation: AFRESH,
    });
    if ('refused' in told) throw new Error(told.refused.message);
    return told.phases.filter(({ would }) => would === 'reuse').map(({ id }) => id);
  }
}

describe('random flows and random edits against a plain model', () => {
  it('exactly the predicted phases execute, and every output is the right one', async () => {
    await fc.assert(
      fc.asyncProperty(
        nodesArbitrary,
        fc.array(editArbitrary, { minLength: 3, maxLength: 6 }),
        async (nodes, edits) => {
          const rig = createMemoRig(effort<'off' | 'auto'>('off', 'auto'));
          try {
            await new Trial(rig, nodes).go(edits);
          } finally {
            rig.remove();
          }
        },
      ),
      { numRuns: effort(8, 80), interruptAfterTimeLimit: effort(40_000, 300_000) },
    );
  }, 400_000);
});
