import { type Layout, layoutGraph, type Point } from '../../plan/layout.js';
import { escapeXml } from '../../report/xml.js';
import { displayWidth } from '../../util/terminal-text.js';
import { dependenciesOf, type Graph, type GraphNode, kindText } from './graph.js';

const STYLE = `
  .box { fill: #fff; stroke: #57606a; stroke-width: 1.2 }
  .gate .box, .approval .box { stroke: #bc4c00; stroke-width: 2 }
  .script .box { stroke: #0969da }
  .agent .box, .loop .box, .reduce .box, .tournament .box, .race .box { stroke: #8250df }
  .map .box, .parallel .box, .flow .box, .expand .box { stroke: #1a7f37; stroke-dasharray: 5 2 }
  .id { font: 600 13px ui-sans-serif, system-ui, sans-serif; fill: #1f2328 }
  .kind { font: 11px ui-sans-serif, system-ui, sans-serif; fill: #59636e }
  .edge { fill: none; stroke: #8c959f; stroke-width: 1.3 }
  .tip { fill: #8c959f }
  @media (prefers-color-scheme: dark) {
    .box { fill: #161b22; stroke: #8b949e }
    .id { fill: #e6edf3 }
    .kind { fill: #8b949e }
  }`;

const TIP =
  '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">' +
  '<path class="tip" d="M0 0 8 4 0 8z"/></marker>';

/** A picture that needs no script, font or other file. */
export function toSvg(graph: Graph): string {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const layout = layoutOf(graph);
  const edges = layout.edges.map(({ route }) => `  <path class="edge" marker-end="url(#tip)" d="${curve(route)}"/>`);
  const boxes = [...layout.boxes].map(([id, { x, y, width, height }]) => {
    const node = byId.get(id)!;
    const centre = round(x + width / 2);
    const title = escapeXml(node.description ? `${id}: ${node.description}` : id);
    const place = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${height}"`;
    return `  <g class="${node.kind}"><title>${title}</title>
    <rect class="box" ${place} rx="${node.kind === 'script' ? 2 : 8}"/>
    <text class="id" x="${centre}" y="${round(y + 19)}" text-anchor="middle">${escapeXml(shortId(id))}</text>
    <text class="kind" x="${centre}" y="${round(y + 35)}" text-anchor="middle">${escapeXml(kindText(node))}</text></g>`;
  });
  const { width, height } = layout;
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escapeXml(graph.name)}">
  <style>${STYLE}
  </style>
  <defs>${TIP}</defs>
${[...edges, ...boxes].join('\n')}
</svg>
`;
}

function layoutOf(graph: Graph): Layout {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const needs = dependenciesOf(graph);
  return layoutGraph(
    graph.nodes.map(({ id }) => ({ id, needs: needs.get(id)! })),
    { boxWidth: (id) => boxWidth(byId.get(id)!), boxHeight: 44, layerGap: 44 },
  );
}

const MAX_ID = 40;

function shortId(id: string): string {
  return id.length <= MAX_ID ? id : `${id.slice(0, MAX_ID - 1)}…`;
}

function boxWidth(node: GraphNode): number {
  return Math.max(72, 24 + Math.max(displayWidth(shortId(node.id)) * 7.8, displayWidth(kindText(node)) * 6));
}

/** Leaves and arrives vertically. */
function curve(points: readonly Point[]): string {
  const [start, ...rest] = points;
  let path = `M${round(start!.x)} ${round(start!.y)}`;
  let from = start!;
  for (const to of rest) {
    const middle = round((from.y + to.y) / 2);
    path +=
      from.x === to.x
        ? `V${round(to.y)}`
        : `C${round(from.x)} ${middle} ${round(to.x)} ${middle} ${round(to.x)} ${round(to.y)}`;
    from = to;
  }
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
