import type { DagNode } from './dag-order.js';

/** Each node one layer below the lowest thing it needs. Nodes come in DAG order. */
export function layersOf<T extends DagNode>(nodes: readonly T[]): T[][] {
  const layerOf = new Map<string, number>();
  const layers: T[][] = [];
  for (const node of nodes) {
    let layer = 0;
    for (const need of node.needs) layer = Math.max(layer, (layerOf.get(need) ?? -1) + 1);
    layerOf.set(node.id, layer);
    layers[layer] ??= [];
    layers[layer]!.push(node);
  }
  return layers;
}
