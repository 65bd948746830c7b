import { dagOrder } from '../../plan/dag-order.js';
import { layersOf } from '../../plan/layers.js';
import { padEnd, truncate } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';
import { dependenciesOf, type Graph, kindText } from './graph.js';
import { drawRails } from './rails.js';

interface TerminalOptions {
  readonly style: Style;
  readonly columns: number;
}

/**
 * One line per phase in the order of the DAG, with rails that show what leads where. Where the rails would be too many
 * to follow, phases are listed by layer instead. Either way each line names what the phase needs.
 */
export function drawGraph(graph: Graph, { style, columns }: TerminalOptions): string[] {
  const needs = dependenciesOf(graph);
  const ordered = dagOrder(graph.nodes.map((node) => ({ ...node, needs: needs.get(node.id)! })));
  const idWidth = Math.min(32, Math.max(4, ...ordered.map(({ id }) => id.length)));
  const kindWidth = Math.max(5, ...ordered.map((node) => kindText(node).length));
  const line = (rail: string, node: (typeof ordered)[number]) => {
    const id = padEnd(truncate(node.id, idWidth), idWidth);
    const needed = node.needs.length > 0 ? style.dim(`  ← ${needsText(node.needs)}`) : '';
    const text = `${rail}${id}  ${style.dim(padEnd(kindText(node), kindWidth))}${needed}`;
    return truncate(text.trimEnd(), columns);
  };
  const rails = drawRails(ordered, Math.max(4, Math.floor(columns / 5)));
  if (rails) {
    const railWidth = Math.max(...rails.map((rail) => rail.length));
    return ordered.map((node, index) =>
      line(`${colorRail(rails[index]!, style)}${' '.repeat(railWidth - rails[index]!.length + 2)}`, node),
    );
  }
  const layers = layersOf(ordered);
  return layers.flatMap((layer, index) => [
    style.bold(`layer ${index + 1} (${layer.length})`),
    ...layer.map((node) => line('  ● ', node)),
  ]);
}

const NAMED = 4;

function needsText(needs: readonly string[]): string {
  if (needs.length <= NAMED) return needs.join(', ');
  return `${needs.slice(0, NAMED).join(', ')} and ${needs.length - NAMED} more`;
}

function colorRail(rail: string, style: Style): string {
  const [before = '', after = ''] = rail.split('●');
  return `${style.dim(before)}${style.cyan('●')}${style.dim(after)}`;
}
