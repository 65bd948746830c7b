/** The part of a phase that the search for cycles needs. */
interface GraphNode {
  readonly id: string;
  readonly needs: readonly { readonly id: string }[];
}

const MOST_CYCLES = 20;

/**
 * Cycles, each as the ids along it with the first repeated at the end (`a`, `b`, `a`), at most twenty. No phase is in
 * two of them, so a tangle of cycles is reported once.
 */
export function findCycles(nodes: readonly GraphNode[]): readonly (readonly string[])[] {
  const cycles: (readonly string[])[] = [];
  for (let left = unstartable(nodes); left.length > 0 && cycles.length < MOST_CYCLES; ) {
    const cycle = oneCycle(left);
    cycles.push(inFileOrder(cycle, left));
    const found = new Set(cycle);
    left = unstartable(left.filter(({ id }) => !found.has(id)));
  }
  return cycles;
}

/** The phases that are on a cycle or behind one. Needs that name no phase are ignored. */
function unstartable(nodes: readonly GraphNode[]): readonly GraphNode[] {
  const waiting = new Map(nodes.map(({ id }) => [id, 0]));
  const dependents = new Map<string, GraphNode[]>(nodes.map(({ id }) => [id, []]));
  for (const node of nodes) {
    for (const need of new Set(node.needs.map(({ id }) => id))) {
      if (!waiting.has(need)) continue;
      dependents.get(need)!.push(node);
      waiting.set(node.id, waiting.get(node.id)! + 1);
    }
  }
  const ready = nodes.filter(({ id }) => waiting.get(id) === 0);
  // The list grows while it is read.
  for (const { id } of ready) {
    for (const dependent of dependents.get(id)!) {
      const left = waiting.get(dependent.id)! - 1;
      waiting.set(dependent.id, left);
      if (left === 0) ready.push(dependent);
    }
  }
  return nodes.filter(({ id }) => waiting.get(id) !== 0);
}

/** Every one of these phases needs another of them, so following `needs` must come back to a visited phase. */
function oneCycle(nodes: readonly GraphNode[]): readonly string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const trail: string[] = [];
  const onTrail = new Map<string, number>();
  let node = nodes[0]!;
  for (;;) {
    onTrail.set(node.id, trail.length);
    trail.push(node.id);
    const needs = node.needs.filter(({ id }) => byId.has(id));
    const closing = needs.find(({ id }) => onTrail.has(id));
    if (closing) return trail.slice(onTrail.get(closing.id));
    node = byId.get(needs[0]!.id)!;
  }
}

/** Starts at the phase that is first in the file, and lists each after its dependency: a → b means b waits for a. */
function inFileOrder(cycle: readonly string[], nodes: readonly GraphNode[]): readonly string[] {
  const position = new Map(nodes.map(({ id }, index) => [id, index]));
  const turned = cycle.toReversed();
  const first = turned.reduce((best, id, at) => (position.get(id)! < position.get(turned[best]!)! ? at : best), 0);
  return [...turned.slice(first), ...turned.slice(0, first), turned[first]!];
}
