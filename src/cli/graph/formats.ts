import type { Graph } from './graph.js';

/** `{nodes: [{id, kind}], edges: [{from, to}]}`. */
export function toJson({ nodes, edges }: Graph): string {
  const plain = {
    nodes: nodes.map(({ id, kind }) => ({ id, kind })),
    edges: edges.map(({ from, to }) => ({ from, to })),
  };
  return `${JSON.stringify(plain, null, 2)}\n`;
}

/** Phase ids can be words of mermaid's own (`end`), so nodes have numbers and ids are labels. */
export function toMermaid({ nodes, edges }: Graph): string {
  const name = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  const shapes: Readonly<Record<string, readonly [string, string]>> = {
    gate: ['{', '}'],
    approval: ['{{', '}}'],
    script: ['[', ']'],
    map: ['[[', ']]'],
    flow: ['[[', ']]'],
    expand: ['[[', ']]'],
  };
  const lines = nodes.map(({ id, kind, marks }) => {
    const [open, close] = shapes[kind] ?? ['(', ')'];
    return `  ${name.get(id)}${open}"${id}<br/><small>${[kind, ...marks].join(' · ')}</small>"${close}`;
  });
  for (const { from, to } of edges) lines.push(`  ${name.get(from)} --> ${name.get(to)}`);
  return `flowchart TD\n${lines.join('\n')}\n`;
}

export function toDot({ name, nodes, edges }: Graph): string {
  const quote = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  const shapes: Readonly<Record<string, string>> = { gate: 'diamond', approval: 'hexagon', script: 'box' };
  const lines = ['  rankdir=TB;', '  node [fontname="sans-serif", shape=box, style=rounded];'];
  for (const { id, kind, marks } of nodes) {
    const shape = shapes[kind] ? `, shape=${shapes[kind]}, style=solid` : '';
    lines.push(
      `  ${quote(id)} [label=${quote(`${id}\n${[kind, ...marks].join(' · ')}`).replaceAll('\n', '\\n')}${shape}];`,
    );
  }
  for (const { from, to } of edges) lines.push(`  ${quote(from)} -> ${quote(to)};`);
  return `digraph ${quote(name)} {\n${lines.join('\n')}\n}\n`;
}
