import type { TestCase } from '../file/test-file.js';

/** Cases that run one after the other in one project. */
export type Chain = readonly { readonly test: TestCase; readonly reported: boolean }[];

/**
 * A chain for each case that no other follows, from its first predecessor on. If two cases follow the same one, that
 * one runs again for the second, so that each begins with exactly what its predecessor left.
 */
export function chainsOf(cases: readonly TestCase[], isWanted: (test: TestCase) => boolean): readonly Chain[] {
  const byName = new Map(cases.map((test) => [test.name, test]));
  const wanted = cases.filter(isWanted);
  const ways = wanted.map((test) => wayTo(test, byName));
  const followed = new Set(ways.flatMap((way) => way.slice(0, -1)));
  const reported = new Set<TestCase>();
  const chains: Chain[] = [];
  for (const way of ways) {
    if (followed.has(way.at(-1)!)) continue;
    chains.push(
      way.map((test) => {
        const isFirst = wanted.includes(test) && !reported.has(test);
        if (isFirst) reported.add(test);
        return { test, reported: isFirst };
      }),
    );
  }
  return chains;
}

function wayTo(test: TestCase, byName: ReadonlyMap<string, TestCase>): readonly TestCase[] {
  const way = [test];
  for (let at = test.after; at !== undefined; at = way[0]!.after) way.unshift(byName.get(at)!);
  return way;
}
