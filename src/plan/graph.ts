/** What the graph needs to know of a phase. */
export interface GraphNode {
  readonly id: string;
  readonly needs: readonly { readonly id: string }[];
}

/**
 * Ids in an order in which every phase stands after what it needs; among those that could come next, file order.
 * What is on a cycle, or behind one, is left out. Needs that name no node are ignored.
 */
export function topologicalOrder(nodes: readonly GraphNode[]): readonly string[] {
  const waiting = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  const position = new Map(nodes.map((node, index) => [node.id, index]));
  for (const node of nodes) {
    let count = 0;
    for (const need of new Set(node.needs.map(({ id }) => id))) {
      if (!position.has(need)) continue;
      count += 1;
      const list = dependents.get(need);
      if (list) list.push(node.id);
      else dependents.set(need, [node.id]);
    }
    waiting.set(node.id, count);
  }
  const ready = new Heap(nodes.filter(({ id }) => waiting.get(id) === 0).map(({ id }) => position.get(id)!));
  const order: string[] = [];
  for (let next = ready.take(); next !== undefined; next = ready.take()) {
    const { id } = nodes[next]!;
    order.push(id);
    for (const dependent of dependents.get(id) ?? []) {
      const left = waiting.get(dependent)! - 1;
      waiting.set(dependent, left);
      if (left === 0) ready.add(position.get(dependent)!);
    }
  }
  return order;
}

/** Smallest number first. */
class Heap {
  readonly #items: number[] = [];

  constructor(initial: readonly number[]) {
    for (const item of initial) this.add(item);
  }

  add(item: number): void {
    const items = this.#items;
    let index = items.length;
    items.push(item);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (items[parent]! <= item) break;
      items[index] = items[parent]!;
      index = parent;
    }
    items[index] = item;
  }

  take(): number | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && items[child + 1]! < items[child]!) child += 1;
      if (items[child]! >= last) break;
      items[index] = items[child]!;
      index = child;
    }
    items[index] = last;
    return top;
  }
}

const MOST_CYCLES = 20;

/**
 * Cycles, each as the ids along it with the first repeated at the end (`a`, `b`, `a`), at most twenty. No phase is in
 * two of them, so a tangle is named once and not in all its variations.
 */
export function findCycles(nodes: readonly GraphNode[]): readonly (readonly string[])[] {
  const cycles: (readonly string[])[] = [];
  let left = nodes;
  while (cycles.length < MOST_CYCLES) {
    const sorted = new Set(topologicalOrder(left));
    left = left.filter(({ id }) => !sorted.has(id));
    if (left.length === 0) break;
    const cycle = oneCycle(left);
    cycles.push(inFileOrder(cycle, left));
    const found = new Set(cycle);
    left = left.filter(({ id }) => !found.has(id));
  }
  return cycles;
}

/** Every one of these phases needs another of them, so that following needs must come back to where it has been. */
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

/** Starts at the phase that is first in the file, and says each after what it needs: a → b means b waits for a. */
function inFileOrder(cycle: readonly string[], nodes: readonly GraphNode[]): readonly string[] {
  const position = new Map(nodes.map(({ id }, index) => [id, index]));
  const turned = cycle.toReversed();
  const first = turned.reduce((best, id, at) => (position.get(id)! < position.get(turned[best]!)! ? at : best), 0);
  return [...turned.slice(first), ...turned.slice(0, first), turned[first]!];
}
