import type { JsonValue } from '../../../model/json.js';
import { fromValue } from './from-value.js';
import type { RawRow, RawRows, ReadRowsOptions, RowProblem } from './raw-row.js';

/** One JSON value per line: an object of arguments, or one bare value. Blank lines are passed over. */
export function readJsonl(text: string, { as }: ReadRowsOptions): RawRows {
  const rows: RawRow[] = [];
  const problems: RowProblem[] = [];
  for (const [index, written] of text.split('\n').entries()) {
    const line = index + 1;
    if (written.trim() === '') continue;
    let value: JsonValue;
    try {
      value = JSON.parse(written) as JsonValue;
    } catch (error) {
      problems.push({ line, message: `this is no JSON: ${(error as Error).message}` });
      continue;
    }
    const row = fromValue(value, as);
    if ('problem' in row) problems.push({ line, message: row.problem });
    else rows.push({ line, values: row.values });
  }
  return { rows, problems };
}
