import { closeSync, openSync, readSync } from 'node:fs';
import { located } from '../../model/output.js';
import { outputsBeside } from '../core/output-folder.js';
import { inFolder } from '../core/stored-writer.js';
import { isJournalLine } from './line-shape.js';
import type { JournalLine, ResultLine, RunLine } from './lines.js';
import type { LinePlace } from './writer.js';

interface PlacedLine extends LinePlace {
  readonly line: JournalLine;
}

/** The bytes of a line without its end, from `start` to `end` of `bytes`. */
interface PlacedBytes extends LinePlace {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Many callers read only the first line, which is mostly short. */
const [FIRST_CHUNK, CHUNK] = [16 * 1024, 256 * 1024];
const NEWLINE = 10;
const CLOSING_BRACE = 125;

/** Every whole line of a journal after `from`, in order, with its place. Skips what was cut short or is not JSON. */
export function* readLines(path: string, from = 0): Generator<PlacedLine> {
  for (const { bytes, start, end, offset, length } of readBytes(path, from)) {
    const line = parseLine(bytes.toString('utf8', start, end), path);
    if (line) yield { line, offset, length };
  }
}

/** How the line of a settled unit or phase begins: it names its phase and unit without parsing the output. */
const QUOTED = /("(?:[^"\\]|\\.)*")/.source;
const RESULT_HEAD = new RegExp(
  `^\\{"type":"(?:unit|phase)"(?:,"at":\\d+)?,"phase":${QUOTED},"kind":"[a-z]+"(?:,"unit":${QUOTED})?,"status":`,
);
/** Most names are shorter; a line with a longer one is parsed. */
const HEAD_BYTES = 200;

/** The place of a result, and that of the one before it of the same phase or unit. */
export interface ResultPlace extends LinePlace {
  readonly before?: ResultPlace;
}

/** The place of the latest result of each phase (`path`) and unit (`path unit`). */
export function resultPlaces(path: string): Map<string, ResultPlace> {
  const places = new Map<string, ResultPlace>();
  for (const { bytes, start, end, offset, length } of readBytes(path)) {
    const begin = bytes.toString('utf8', start, Math.min(end, start + HEAD_BYTES));
    if (!begin.startsWith('{"type":"unit"') && !begin.startsWith('{"type":"phase"')) continue;
    const head = bytes[end - 1] === CLOSING_BRACE ? RESULT_HEAD.exec(begin) : null;
    const result = head
      ? { phase: named(head[1]!), unit: head[2] && named(head[2]) }
      : (parseLine(bytes.toString('utf8', start, end), path) as ResultLine | undefined);
    if (!result) continue;
    const name = resultName(result.phase, result.unit);
    const before = places.get(name);
    places.set(name, before ? { offset, length, before } : { offset, length });
  }
  return places;
}

export function resultName(phase: string, unit: string | undefined): string {
  return unit === undefined ? phase : `${phase} ${unit}`;
}

function named(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

/** Reads in chunks: a batch's journal may be far larger than what should be in memory at once. */
function* readBytes(path: string, from = 0): Generator<PlacedBytes> {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    // No journal: a run that died before its first line. It has no lines.
    return;
  }
  try {
    let pending = Buffer.alloc(0);
    let pendingOffset = from;
    // Doubles for a line that is not whole yet: one of many megabytes must not be copied for every chunk of it.
    for (let size = FIRST_CHUNK; ; size = Math.max(CHUNK, pending.length)) {
      const searched = pending.length;
      const chunk = Buffer.allocUnsafe(size);
      const read = readSync(fd, chunk, 0, size, pendingOffset + pending.length);
      if (read === 0) return;
      pending = pending.length === 0 ? chunk.subarray(0, read) : Buffer.concat([pending, chunk.subarray(0, read)]);
      let start = 0;
      for (let end = pending.indexOf(NEWLINE, searched); end !== -1; end = pending.indexOf(NEWLINE, start)) {
        yield { bytes: pending, start, end, offset: pendingOffset + start, length: end + 1 - start };
        start = end + 1;
      }
      pendingOffset += start;
      pending = pending.subarray(start);
    }
  } finally {
    closeSync(fd);
  }
}

/** The line at a known place, or undefined if it is not there. */
export function readLineAt(path: string, place: LinePlace): JournalLine | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    // The run was cleared meanwhile; its results are simply not there.
    return undefined;
  }
  try {
    const buffer = Buffer.allocUnsafe(place.length);
    const read = readSync(fd, buffer, 0, place.length, place.offset);
    return read === place.length ? parseLine(buffer.toString('utf8'), path) : undefined;
  } finally {
    closeSync(fd);
  }
}

/** Only the head of a journal, without reading the rest. */
export function readRunLine(path: string): RunLine | undefined {
  for (const { line } of readLines(path)) return line.type === 'run' ? line : undefined;
  return undefined;
}

/** Large outputs are in files beside the journal. */
export function parseLine(text: string, journal: string): JournalLine | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJournalLine(value) ? withOutputIn(value, outputsBeside(journal)) : undefined;
  } catch {
    // Cut short by a crash: the protocol is that such a line never happened.
    return undefined;
  }
}

export function withOutputIn(line: JournalLine, folder: string): JournalLine {
  if (!('output' in line) || line.output === undefined) return line;
  const output = located(line.output, inFolder(folder));
  return output === line.output ? line : { ...line, output };
}
