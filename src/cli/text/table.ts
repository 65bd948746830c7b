import { displayWidth, padEnd } from '../../util/terminal-text.js';

/** Left-aligned columns, two spaces apart; the last one is not padded. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell));
  }
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, index) => padEnd(cell, widths[index]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
