import type { ResultLine } from './lines.js';
import { parseLine } from './reader.js';

const NEWLINE = 10;
/** So many other lines may look like the wanted one, since outputs may hold anything. */
const MOST_OTHERS = 20;

/**
 * The latest result of one phase or unit that `isMeant` accepts. It searches a journal's bytes from the end, which for
 * a few questions is much quicker than parsing every line. `unsure` when too many other lines looked like the wanted
 * one.
 */
export function searchResult(
  { bytes: journal, path }: { readonly bytes: Buffer; readonly path: string },
  { phase, unit }: { readonly phase: string; readonly unit?: string },
  isMeant: (line: ResultLine) => boolean = () => true,
): ResultLine | 'unsure' | undefined {
  const name =
    unit === undefined ? `"phase":${JSON.stringify(phase)},"kind":` : `"unit":${JSON.stringify(unit)},"status":`;
  let others = 0;
  for (let found = journal.lastIndexOf(name); found !== -1; found = before(journal, found, name)) {
    const start = journal.lastIndexOf(NEWLINE, found) + 1;
    const end = journal.indexOf(NEWLINE, found);
    const line = end === -1 ? undefined : parseLine(journal.toString('utf8', start, end), path);
    const isOfIt = (line?.type === 'unit' || line?.type === 'phase') && line.phase === phase && line.unit === unit;
    if (isOfIt && isMeant(line)) return line;
    others += 1;
    if (others > MOST_OTHERS) return 'unsure';
  }
  return undefined;
}

function before(journal: Buffer, found: number, name: string): number {
  return found === 0 ? -1 : journal.lastIndexOf(name, found - 1);
}
