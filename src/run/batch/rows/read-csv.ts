import { isForbiddenName } from '../../../model/names.js';
import type { RawRow, RawRows, RowProblem } from './raw-row.js';

interface CsvRecord {
  readonly record: readonly string[];
  /** `lines`: of the record's last line. */
  readonly info: { readonly lines: number };
}

/** The first line names the arguments. An empty cell is an argument that is not given: its default holds. */
export async function readCsv(text: string, delimiter: ',' | '\t'): Promise<RawRows> {
  const { parse } = await import('csv-parse/sync');
  let records: CsvRecord[];
  try {
    records = parse(text, {
      bom: true,
      delimiter: delimiter === ',' ? delimiterOf(text) : delimiter,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as CsvRecord[];
  } catch (error) {
    // The parser throws for quotes that are not closed or are inside a word; nothing after them can be trusted.
    const { message, lines } = error as Error & { readonly lines?: number };
    return { rows: [], problems: [{ line: lines ?? 1, message: `this is no CSV: ${message}` }] };
  }
  const [header, ...rest] = records;
  if (!header) return { rows: [], problems: [] };
  const names = header.record;
  const problems = headerProblems(names);
  const rows: RawRow[] = [];
  for (const { record, info } of rest) {
    const line = info.lines - lineBreaks(record);
    if (record.length > names.length) problems.push({ line, message: tooMany(record.length, names.length) });
    else if (problems.length === 0 || names.length > 0) rows.push({ line, values: cells(names, record) });
  }
  return { rows, problems };
}

/** Where numbers have a decimal comma, spreadsheets write semicolons between cells. */
function delimiterOf(text: string): ',' | ';' | '\t' {
  const header = text.trimStart().split(/\r\n|\n|\r/, 1)[0]!;
  if (header.includes(',')) return ',';
  return header.includes(';') ? ';' : header.includes('\t') ? '\t' : ',';
}

function cells(names: readonly string[], record: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name, index) => {
      const cell = record[index];
      return cell === undefined || cell === '' ? [] : [[name, cell]];
    }),
  );
}

function headerProblems(names: readonly string[]): RowProblem[] {
  return names.flatMap((name, index): RowProblem[] => {
    if (name === '') return [{ line: 1, message: `column ${index + 1} has no name in the first line` }];
    if (isForbiddenName(name)) return [{ line: 1, message: `"${name}" is not allowed as the name of a column` }];
    return names.indexOf(name) === index ? [] : [{ line: 1, message: `two columns are called "${name}"` }];
  });
}

function tooMany(found: number, wanted: number): string {
  const help = 'a cell with one of the separators needs double quotes';
  return `${found} cells, and the first line names ${wanted} columns (${help})`;
}

function lineBreaks(record: readonly string[]): number {
  return record.reduce((count, cell) => count + (cell.match(/\r\n|\n|\r/g)?.length ?? 0), 0);
}
