import type { ResultLine } from './lines.js';
import { parseLine } from './reader.js';

const NEWLINE = 10;
/** Of other lines that look as if they were meant: outputs may hold anything. */
const MOST_OTHERS = 20;

/**
 * The latest result of one phase or unit in the bytes of a journal, found from its end: for a few questions that is much
 * quicker than going through all lines. `isMeant` passes over later ones. `unsure` when too many lines had to be looked at in vain.
 */
export function searchResult(
  journal: Buffer,
  phase: string,
  unit: string | undefined,
  isMeant: (line: ResultLine) => boolean = () => true,
): ResultLine | 'unsure' | undefined {
  const name =
    unit === undefined ? `"phase":${JSON.stringify(phase)},"kind":` : `"unit":${JSON.stringify(unit)},"status":`;
  let others = 0;
  for (let found = journal.lastIndexOf(name); found !== -1; found = before(journal, found, name)) {
    const start = journal.lastIndexOf(NEWLINE, found) + 1;
    const end = journal.indexOf(NEWLINE, found);
    const line = end === -1 ? undefined : parseLine(journal.toString('utf8', start, end));
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
