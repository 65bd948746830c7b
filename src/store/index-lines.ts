import type { IndexRow } from './index-row.js';
import type { Line } from './lines.js';
import { INDEX_LOG } from './paths.js';
import { hasMac, MAC_LENGTH, withMac } from './signed-text.js';

/**
 * One row is one line, so that both files are read piece by piece, and a row is copied without being parsed:
 *
 *     "<key>":{"usedAt":…,"inode":…,"bytes":…,…},        in index.json, which is one JSON object
 *     {"key":"<key>","usedAt":…,"inode":…,"bytes":…,…}   in index.log: a put
 *     {"key":"<key>","usedAt":…}                         in index.log: a use
 *
 * What follows `usedAt` is the same text in both: the rest of the row.
 */
export interface RowPlace {
  readonly key: string;
  readonly usedAt: number;
  /** Absent for a use. */
  readonly row?: {
    readonly inode: number;
    readonly bytes: number;
    /** Where the rest of the row begins in the line's buffer. */
    readonly from: number;
    readonly to: number;
  };
}

const USED_AT = String.raw`"usedAt":(-?\d+(?:\.\d+)?)`;
const FILE = String.raw`,"inode":(\d+),"bytes":(\d+),`;
const IN_INDEX = new RegExp(String.raw`^"([0-9a-f]{64})":\{${USED_AT}${FILE}`);
const IN_LOG = new RegExp(String.raw`^\{"key":"([0-9a-f]{64})",${USED_AT}(?:${FILE}|\}$|,"mac")`);
/** The two expressions look no further than this. */
const LONGEST_HEAD = 200;
const COMMA = 44;

export function restOfRow({ inode, bytes, createdAt, flow, phaseId, runId, ttlMs, blobs }: IndexRow): string {
  return `,${JSON.stringify({ inode, bytes, createdAt, flow, phaseId, runId, ttlMs, blobs }).slice(1, -1)}`;
}

export function rowText(usedAt: number, rest: string): string {
  return `{"usedAt":${usedAt}${rest}}`;
}

/** The last line of `index.json` in a signed store. Its MAC is about all lines before it. */
export function macLine(mac: string): string {
  return `,"mac":"${mac}"}`;
}

export function logLine(
  { key, usedAt, rest }: { readonly key: string; readonly usedAt: number; readonly rest: string },
  signingKey: Buffer | string | undefined,
): string {
  return withMac(INDEX_LOG, `{"key":"${key}","usedAt":${usedAt}${rest}}`, signingKey);
}

export function placeInIndex(line: Line): RowPlace | undefined {
  const { buffer, end } = line;
  return placeOf(IN_INDEX, line, buffer[end - 1] === COMMA ? end - 2 : end - 1);
}

/** Undefined for a line that was cut short and, where there is a signing key, for one without its MAC. */
export function placeInLog(line: Line, signingKey: Buffer | string | undefined): RowPlace | undefined {
  if (signingKey === undefined) return placeOf(IN_LOG, line, line.end - 1);
  const text = line.buffer.toString('utf8', line.start, line.end);
  return hasMac(INDEX_LOG, text, signingKey) ? placeOf(IN_LOG, line, line.end - MAC_LENGTH) : undefined;
}

function placeOf(pattern: RegExp, { buffer, start, end }: Line, to: number): RowPlace | undefined {
  const head = pattern.exec(buffer.toString('latin1', start, Math.min(end, start + LONGEST_HEAD)));
  if (!head) return undefined;
  const [, key, usedAt, inode, bytes] = head;
  if (inode === undefined) return { key: key!, usedAt: Number(usedAt) };
  const from = start + head[0].indexOf(',"inode"');
  return { key: key!, usedAt: Number(usedAt), row: { inode: Number(inode), bytes: Number(bytes), from, to } };
}
