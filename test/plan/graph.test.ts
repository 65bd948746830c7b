import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCycles } from '../../src/plan/graph.js';

const node = (id: string, ...needs: string[]) => ({ id, needs: needs.map((need) => ({ id: need })) });

type Node = ReturnType<typeof node>;

/** Removes what could start, again and again, until nothing can. */
function withoutStartable(nodes: readonly Node[]): readonly Node[] {
  const ids = new Set(nodes.map(({ id }) => id));
  const left = nodes.filter(({ needs }) => needs.some(({ id }) => ids.has(id)));
  return left.length === nodes.length ? left : withoutStartable(left);
}

describe('the graph', () => {
  it('names a cycle from the phase that is first in the file', () => {
    expect(findCycles([node('a', 'c'), node('b', 'a'), node('c', 'b')])).toEqual([['a', 'b', 'c', 'a']]);
    expect(findCycles([node('a', 'b'), node('b', 'a'), node('c', 'd', 'a'), node('d', 'c')])).toEqual([
      ['a', 'b', 'a'],
      ['c', 'd', 'c'],
    ]);
    expect(findCycles([node('self', 'self')])).toEqual([['self', 'self']]);
    expect(findCycles([node('a'), node('b', 'a')])).toEqual([]);
  });

  it('finds a cycle exactly when some phases can never start, and every cycle it names is one', () => {
    const graph = fc
      .array(fc.array(fc.nat({ max: 11 }), { maxLength: 3 }), { minLength: 1, maxLength: 12 })
      .map((lists) =>
        lists.map((needs, id) => node(`p${id}`, ...needs.filter((n) => n < lists.length).map((n) => `p${n}`))),
      );
    fc.assert(
      fc.property(graph, (nodes) => {
        const cycles = findCycles(nodes);
        expect(cycles.length > 0).toBe(withoutStartable(nodes).length > 0);
        for (const cycle of cycles) {
          for (const [index, id] of cycle.slice(1).entries()) {
            expect(nodes.find((one) => one.id === id)!.needs.map((need) => need.id)).toContain(cycle[index]);
          }
        }
      }),
    );
  });

  it('handles ten thousand phases in a row and side by side', () => {
    const chain = Array.from({ length: 10_000 }, (_, i) => (i === 0 ? node('p0') : node(`p${i}`, `p${i - 1}`)));
    const start = performance.now();
    expect(findCycles(chain)).toEqual([]);
    expect(findCycles([...chain.slice(1), node('p0', 'p9999')])[0]).toHaveLength(10_001);
    expect(performance.now() - start).toBeLessThan(3000);
  });
});
