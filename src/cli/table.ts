/** How many cells a text takes on a terminal: control sequences take none. */
export function visibleLength(text: string): number {
  return text.replaceAll(/\x1b\[[0-9;]*m/g, '').length;
}

/** Left-aligned columns, two spaces apart; the last one is not padded. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, visibleLength(cell));
  }
  return rows
    .map((row) => {
      const cells = row.map((cell, index) => cell + ' '.repeat(Math.max(0, widths[index]! - visibleLength(cell))));
      return `${cells.join('  ').trimEnd()}\n`;
    })
    .join('');
}
