import type { Flow } from '../../model/flow.js';

/** A flow as nodes and edges, for drawing. */
export interface Graph {
  readonly name: string;
  /** In the order of the file. */
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphNode {
  readonly id: string;
  readonly kind: string;
  readonly description?: string;
  /** Further properties: `cross-run`, `when …`, `optional`, `result`. */
  readonly marks: readonly string[];
}

interface GraphEdge {
  readonly from: string;
  readonly to: string;
}

export function flowGraph(flow: Flow): Graph {
  const nodes = flow.phases.map((phase) => ({
    id: phase.id,
    kind: phase.kind,
    description: phase.description,
    marks: [
      ...(phase.cache.scope === 'cross-run' ? ['cross-run'] : []),
      ...(phase.when === undefined ? [] : ['when']),
      ...(phase.optional ? ['optional'] : []),
      ...(phase.join === 'any' && phase.needs.length > 1 ? ['any'] : []),
      ...(phase.id === flow.result && flow.phases.length > 1 ? ['result'] : []),
    ],
  }));
  const edges = flow.phases.flatMap((phase) => phase.needs.map(({ id }) => ({ from: id, to: phase.id })));
  return { name: flow.name, nodes, edges };
}

/** `script · cross-run · result`. */
export function kindText({ kind, marks }: GraphNode): string {
  return [kind, ...marks].join(' · ');
}

/** What each node needs, in edge order. */
export function dependenciesOf({ nodes, edges }: Graph): ReadonlyMap<string, readonly string[]> {
  const needs = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  for (const { from, to } of edges) needs.get(to)?.push(from);
  return needs;
}
