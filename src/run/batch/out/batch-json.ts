import { basename } from 'node:path';
import type { BatchResult, RowResult } from '../result.js';

/** The batch for programs, without the outputs: those are in the rows' own files. */
export function batchJson(result: BatchResult, over: string): string {
  const { outputOf: _, rows, ...counts } = result;
  const head = JSON.stringify({ over, ...counts }, undefined, 2);
  // One line per row: ten thousand of them stay readable, and a diff shows the rows that changed.
  const lines = rows.map((row) => `    ${JSON.stringify(inFolder(row))}`);
  return `${head.slice(0, -2)},\n  "rows": [${lines.length === 0 ? '' : `\n${lines.join(',\n')}\n  `}]\n}\n`;
}

/** Paths of files are relative to this one, so that the folder may be moved. */
function inFolder(row: RowResult): RowResult {
  return row.file === undefined ? row : { ...row, file: basename(row.file) };
}
