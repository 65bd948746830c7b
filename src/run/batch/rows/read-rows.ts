import type { RawRows, ReadRowsOptions, RowFormat } from './raw-row.js';

const LARGEST = 256 * 1024 * 1024;
/** YAML with places costs a hundred times its size while it is read. */
const LARGEST_YAML = 16 * 1024 * 1024;

/**
 * The rows of a file, with every problem of its format; arguments are checked elsewhere. A file without rows is a
 * problem: a batch that does nothing looks like one that went well.
 */
export async function readRows(bytes: Buffer, format: RowFormat, options: ReadRowsOptions): Promise<RawRows> {
  const read = await readAny(bytes, format, options);
  if (read.rows.length > 0 || read.problems.length > 0) return read;
  return { rows: [], problems: [{ line: 1, message: 'there are no rows in it', hint: wanted(format, options.as) }] };
}

function wanted(format: RowFormat, as: string): string {
  switch (format) {
    case 'txt':
      return `write one ${as} on each line; blank lines, and lines that begin with "# ", do not count`;
    case 'csv':
    case 'tsv':
      return 'the first line names the arguments, and each further line is a row';
    case 'jsonl':
      return `write one JSON object on each line: {"${as}": "…"}`;
    case 'json':
      return `write a list of objects, one for each row: [{"${as}": "…"}]`;
    case 'yaml':
      return `write a list, one entry for each row: - ${as}: …`;
  }
}

async function readAny(bytes: Buffer, format: RowFormat, options: ReadRowsOptions): Promise<RawRows> {
  const limit = format === 'yaml' ? LARGEST_YAML : LARGEST;
  if (bytes.length > limit) {
    const message = `the file is larger than ${limit / 1024 / 1024} MiB`;
    return { rows: [], problems: [{ line: 1, message, hint: 'use .jsonl or .csv, or cut it into several' }] };
  }
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const bad = text.indexOf('\ufffd');
  if (bad !== -1 && !Buffer.from(text, 'utf8').equals(withoutMark(bytes))) {
    return { rows: [], problems: [{ line: lineAt(text, bad), message: 'not valid UTF-8', hint: 'save it as UTF-8' }] };
  }
  const nul = text.indexOf('\0');
  if (nul !== -1)
    return { rows: [], problems: [{ line: lineAt(text, nul), message: 'a NUL character: this is no text' }] };
  switch (format) {
    case 'txt':
      return (await import('./read-txt.js')).readTxt(text, options);
    case 'jsonl':
      return (await import('./read-jsonl.js')).readJsonl(text, options);
    case 'csv':
    case 'tsv':
      return (await import('./read-csv.js')).readCsv(text, format === 'csv' ? ',' : '\t');
    case 'json':
    case 'yaml':
      return (await import('./read-list.js')).readList(text, format, options);
  }
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
