import type { RawRow, RawRows, ReadRowsOptions } from './raw-row.js';

/** One row per line. Blank lines, and lines that begin with `# `, are for people. */
export function readTxt(text: string, { as }: ReadRowsOptions): RawRows {
  const rows: RawRow[] = [];
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    const value = line.trim();
    if (value === '' || value === '#' || /^#\s/.test(value)) continue;
    rows.push({ line: index + 1, values: { [as]: value } });
  }
  return { rows, problems: [] };
}
