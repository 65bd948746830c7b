import type { RowFormat } from './raw-row.js';

const BY_ENDING: Readonly<Record<string, RowFormat>> = {
  txt: 'txt',
  md: 'txt',
  list: 'txt',
  csv: 'csv',
  tsv: 'tsv',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  json: 'json',
  yaml: 'yaml',
  yml: 'yaml',
};

/** By the end of the file's name; undefined when that says nothing. */
export function formatOfName(name: string): RowFormat | undefined {
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase();
  return ending === undefined ? undefined : BY_ENDING[ending];
}

/** By content, for standard input: the flow's arguments distinguish a table from plain lines. */
export function sniffFormat(text: string, argumentNames: readonly string[]): RowFormat {
  const start = text.trimStart();
  const firstLine = start.split('\n', 1)[0]!.trim();
  if (start.startsWith('[')) return 'json';
  if (start.startsWith('{')) return isJson(firstLine) ? 'jsonl' : 'json';
  if (start.startsWith('"') && isJson(firstLine)) return 'jsonl';
  if (/^(-\s|---)/.test(start)) return 'yaml';
  for (const [format, delimiter] of [
    ['csv', ','],
    ['tsv', '\t'],
  ] as const) {
    const names = firstLine.split(delimiter).map((name) => name.trim().replaceAll('"', ''));
    if (names.length > 1 && names.some((name) => argumentNames.includes(name))) return format;
  }
  return 'txt';
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    // An object that goes on over several lines.
    return false;
  }
}
