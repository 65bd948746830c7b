import type { DagNode } from '../../plan/dag-order.js';

/**
 * The left part of a drawing like `git log --graph`, one row per node: a rail leads from a node down to its last
 * consumer. `├` and `┼` join here and go on, `╰` and `┴` end here, `│` passes by. Undefined when more than
 * `maxRails` would run side by side. Nodes come in DAG order.
 */
export function drawRails(nodes: readonly DagNode[], maxRails: number): string[] | undefined {
  const known = new Set(nodes.map(({ id }) => id));
  const consumers = new Map<string, number>();
  for (const { needs } of nodes) for (const need of new Set(needs)) consumers.set(need, (consumers.get(need) ?? 0) + 1);

  const rails: (string | undefined)[] = [];
  let drawnAbove: readonly boolean[] = [];
  const rows: string[] = [];
  for (const { id, needs } of nodes) {
    const joined = new Map<number, boolean>(); // rail -> it ends here
    for (const need of new Set(needs)) {
      if (!known.has(need)) continue;
      const left = consumers.get(need)! - 1;
      consumers.set(need, left);
      joined.set(rails.indexOf(need), left === 0);
    }
    const column = columnFor(joined, rails, drawnAbove);
    if (column >= maxRails) return undefined;
    rows.push(drawRow(column, joined, rails));

    drawnAbove = Array.from(
      { length: Math.max(rails.length, column + 1) },
      (_, i) => i === column || rails[i] !== undefined,
    );
    for (const [rail, ends] of joined) if (ends) rails[rail] = undefined;
    rails[column] = (consumers.get(id) ?? 0) > 0 ? id : undefined;
    while (rails.length > 0 && rails.at(-1) === undefined) rails.pop();
  }
  return rows;
}

/** On the rightmost rail it takes up, if that one ends here; else the first free place to the right of all of them. */
function columnFor(
  joined: ReadonlyMap<number, boolean>,
  rails: readonly (string | undefined)[],
  drawnAbove: readonly boolean[],
): number {
  const rightmost = Math.max(-1, ...joined.keys());
  if (joined.get(rightmost)) return rightmost;
  for (let column = rightmost + 1; ; column++) {
    // Straight under another node it would look as if it followed from it.
    if (rails[column] === undefined && !drawnAbove[column]) return column;
  }
}

function drawRow(column: number, joined: ReadonlyMap<number, boolean>, rails: readonly (string | undefined)[]): string {
  const first = Math.min(column, ...joined.keys());
  let row = '';
  for (let rail = 0; rail < Math.max(rails.length, column + 1); rail++) {
    const spans = rail > first && rail < column;
    if (rail === column) row += '●';
    else if (joined.has(rail)) row += joined.get(rail) ? (spans ? '┴' : '╰') : spans ? '┼' : '├';
    else if (rails[rail] !== undefined) row += '│';
    else row += spans ? '─' : ' ';
    row += rail >= first && rail < column ? '─' : ' ';
  }
  return row.trimEnd();
}
