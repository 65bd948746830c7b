import { closeSync, openSync, readSync } from 'node:fs';
import type { JournalLine, ResultLine, RunLine } from './lines.js';
import type { LinePlace } from './writer.js';

export interface PlacedLine extends LinePlace {
  readonly line: JournalLine;
}

interface PlacedText extends LinePlace {
  readonly text: string;
}

const CHUNK = 256 * 1024;
const NEWLINE = 10;

/** Every whole line of a journal, in order, with its place. One that was cut short, or is not JSON, is passed over. */
export function* readLines(path: string): Generator<PlacedLine> {
  for (const { text, offset, length } of readTexts(path)) {
    const line = parseLine(text);
    if (line) yield { line, offset, length };
  }
}

/** How the line of a settled unit or phase begins: whose it is can be told without parsing what it said. */
const RESULT_HEAD =
  /^\{"type":"(?:unit|phase)","at":\d+,"phase":("(?:[^"\\]|\\.)*"),"kind":"[a-z]+"(?:,"unit":("(?:[^"\\]|\\.)*"))?,"status":.*\}$/;

/** Where the latest result of each phase (`path`) and unit (`path unit`) stands. */
export function resultPlaces(path: string): Map<string, LinePlace> {
  const places = new Map<string, LinePlace>();
  for (const { text, offset, length } of readTexts(path)) {
    if (!text.startsWith('{"type":"unit"') && !text.startsWith('{"type":"phase"')) continue;
    const head = RESULT_HEAD.exec(text);
    const result = head
      ? { phase: named(head[1]!), unit: head[2] && named(head[2]) }
      : (parseLine(text) as ResultLine | undefined);
    if (result) places.set(resultName(result.phase, result.unit), { offset, length });
  }
  return places;
}

export function resultName(phase: string, unit: string | undefined): string {
  return unit === undefined ? phase : `${phase} ${unit}`;
}

function named(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

/** In chunks: a batch's journal may be far larger than what should be in memory at once. */
function* readTexts(path: string): Generator<PlacedText> {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    // No journal: a run that died before its first line. It has no lines.
    return;
  }
  try {
    let pending = Buffer.alloc(0);
    let pendingOffset = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const read = readSync(fd, chunk, 0, CHUNK, pendingOffset + pending.length);
      if (read === 0) return;
      pending = pending.length === 0 ? chunk.subarray(0, read) : Buffer.concat([pending, chunk.subarray(0, read)]);
      let start = 0;
      for (let end = pending.indexOf(NEWLINE, start); end !== -1; end = pending.indexOf(NEWLINE, start)) {
        yield { text: pending.toString('utf8', start, end), offset: pendingOffset + start, length: end + 1 - start };
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
    return read === place.length ? parseLine(buffer.toString('utf8')) : undefined;
  } finally {
    closeSync(fd);
  }
}

/** Only the head of a journal, without reading the rest. */
export function readRunLine(path: string): RunLine | undefined {
  for (const { line } of readLines(path)) return line.type === 'run' ? line : undefined;
  return undefined;
}

function parseLine(text: string): JournalLine | undefined {
  try {
    const value = JSON.parse(text) as JournalLine;
    return typeof value === 'object' && value !== null && typeof value.type === 'string' ? value : undefined;
  } catch {
    // Cut short by a crash: the protocol is that such a line never happened.
    return undefined;
  }
}
