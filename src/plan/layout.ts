import { type DagNode, dagOrder } from './dag-order.js';
import { layersOf } from './layers.js';

/** Where things go on a plane; lengths in pixels, origin at the top left. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<string, Box>;
  /** Each edge with the points that its curve goes through. */
  readonly edges: readonly { readonly from: string; readonly to: string; readonly route: readonly Point[] }[];
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Sizes of the nodes and of the space between them. */
interface Sizes {
  boxWidth(id: string): number;
  readonly boxHeight: number;
  readonly layerGap: number;
}

/** A node, or the place where a long edge passes through a layer. */
interface Cell {
  readonly id: string;
  readonly width: number;
  x: number;
  readonly above: Cell[];
  readonly below: Cell[];
}

const CELL_GAP = 24;
const MARGIN = 16;
const SWEEPS = 12;
/** Beyond this many bends a drawing is too large to be read anyway, and edges go straight. */
const MAX_BENDS = 20_000;

/**
 * The usual layered drawing: layers by the longest path, long edges split into one bend per layer, crossings reduced by
 * sorting each layer by its neighbours' mean, then every cell moved towards its neighbours without overlapping.
 */
export function layoutGraph(nodes: readonly DagNode[], sizes: Sizes): Layout {
  const { boxHeight: height, layerGap } = sizes;
  const { rows, chains } = makeCells(layersOf(dagOrder(nodes)), sizes.boxWidth);
  for (let sweep = 0; sweep < SWEEPS; sweep++) reorder(rows, sweep % 2 === 0);
  for (const row of rows) placeInOrder(row);
  for (let sweep = 0; sweep < SWEEPS; sweep++) align(rows, sweep % 2 === 0);

  const cells = rows.flat();
  const left = Math.min(0, ...cells.map((cell) => cell.x - cell.width / 2));
  const right = Math.max(0, ...cells.map((cell) => cell.x + cell.width / 2));
  const boxes = new Map<string, Box>();
  const level = new Map<Cell, number>();
  for (const [index, row] of rows.entries()) {
    for (const cell of row) {
      cell.x += MARGIN - left;
      level.set(cell, MARGIN + index * (height + layerGap));
      if (cell.id !== '')
        boxes.set(cell.id, { x: cell.x - cell.width / 2, y: level.get(cell)!, width: cell.width, height });
    }
  }
  return {
    width: Math.ceil(right - left + 2 * MARGIN),
    height: Math.max(1, rows.length) * (height + layerGap) - layerGap + 2 * MARGIN,
    boxes,
    edges: chains.map((chain) => ({ from: chain[0]!.id, to: chain.at(-1)!.id, route: route(chain, level, height) })),
  };
}

function makeCells(
  layers: readonly (readonly { id: string; needs: readonly string[] }[])[],
  boxWidth: (id: string) => number,
) {
  const rows: Cell[][] = layers.map(() => []);
  const cellOf = new Map<string, { cell: Cell; layer: number }>();
  const chains: Cell[][] = [];
  let bends = 0;
  const add = (layer: number, id: string, width: number): Cell => {
    const cell: Cell = { id, width, x: 0, above: [], below: [] };
    rows[layer]!.push(cell);
    return cell;
  };
  for (const [layer, nodes] of layers.entries()) {
    for (const { id, needs } of nodes) {
      const cell = add(layer, id, boxWidth(id));
      cellOf.set(id, { cell, layer });
      for (const need of needs) {
        const from = cellOf.get(need);
        if (!from) continue;
        const chain = [from.cell];
        for (let between = from.layer + 1; between < layer && bends < MAX_BENDS; between++, bends++) {
          chain.push(add(between, '', 2));
        }
        chain.push(cell);
        for (let i = 1; i < chain.length; i++) {
          chain[i - 1]!.below.push(chain[i]!);
          chain[i]!.above.push(chain[i - 1]!);
        }
        chains.push(chain);
      }
    }
  }
  return { rows, chains };
}

/** Sorts each layer by the mean place of its neighbours in the layer before (or after, going up). */
function reorder(rows: Cell[][], down: boolean): void {
  const place = new Map<Cell, number>();
  for (const row of rows) for (const [index, cell] of row.entries()) place.set(cell, index);
  for (const row of down ? rows : [...rows].reverse()) {
    const wanted = new Map(
      row.map((cell) => [
        cell,
        mean((down ? cell.above : cell.below).map((other) => place.get(other)!)) ?? place.get(cell)!,
      ]),
    );
    row.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
    for (const [index, cell] of row.entries()) place.set(cell, index);
  }
}

function placeInOrder(row: Cell[]): void {
  let x = 0;
  for (const cell of row) {
    cell.x = x + cell.width / 2;
    x += cell.width + CELL_GAP;
  }
}

function align(rows: Cell[][], down: boolean): void {
  for (const row of down ? rows : [...rows].reverse()) {
    const wanted = row.map((cell) => mean((down ? cell.above : cell.below).map((other) => other.x)) ?? cell.x);
    placeNear(row, wanted);
  }
}

/**
 * The places nearest to the wanted ones (least squares) that keep order and distance: without the distances, an
 * isotonic regression, solved by pooling neighbours that overlap.
 */
function placeNear(row: Cell[], wanted: readonly number[]): void {
  const offsets: number[] = [];
  let offset = 0;
  for (const [index, cell] of row.entries()) {
    if (index > 0) offset += row[index - 1]!.width / 2 + CELL_GAP + cell.width / 2;
    offsets.push(offset);
  }
  const pools: { sum: number; count: number }[] = [];
  for (const [index, value] of wanted.entries()) {
    pools.push({ sum: value - offsets[index]!, count: 1 });
    while (pools.length > 1 && pools.at(-2)!.sum / pools.at(-2)!.count > pools.at(-1)!.sum / pools.at(-1)!.count) {
      const last = pools.pop()!;
      pools.at(-1)!.sum += last.sum;
      pools.at(-1)!.count += last.count;
    }
  }
  let index = 0;
  for (const { sum, count } of pools) {
    for (const end = index + count; index < end; index++) row[index]!.x = sum / count + offsets[index]!;
  }
}

function route(chain: readonly Cell[], level: ReadonlyMap<Cell, number>, height: number): Point[] {
  return chain.flatMap((cell, index) => {
    const top = level.get(cell)!;
    if (index === 0) return [{ x: cell.x, y: top + height }];
    if (index === chain.length - 1) return [{ x: cell.x, y: top }];
    return [
      { x: cell.x, y: top },
      { x: cell.x, y: top + height },
    ];
  });
}

function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
