import type { sha256Stream } from '../util/digest.js';

/**
 * One portable file, gzipped:
 *
 *     taskflow cache archive 1\n
 *     blob <digest> <size>\n<bytes>\n      … blobs first, so that an entry's files are known when it comes
 *     entry <key> <size>\n<bytes>\n        … the entry's file, byte for byte, with its checksum and MAC
 *     end <entries> <blobs> <SHA-256 of everything before this line>\n
 */
export const MAGIC = 'taskflow cache archive 1\n';

type RecordHead =
  | { readonly type: 'blob' | 'entry'; readonly name: string; readonly size: number }
  | { readonly type: 'end'; readonly entries: number; readonly blobs: number; readonly digest: string };

const RECORD = /^(blob|entry) ([0-9a-f]{64}) (\d{1,15})$/;
const END = /^end (\d{1,15}) (\d{1,15}) ([0-9a-f]{64})$/;

export function parseHead(line: string): RecordHead | undefined {
  const record = RECORD.exec(line);
  if (record) return { type: record[1] as 'blob' | 'entry', name: record[2]!, size: Number(record[3]) };
  const end = END.exec(line);
  return end ? { type: 'end', entries: Number(end[1]), blobs: Number(end[2]), digest: end[3]! } : undefined;
}

/** A problem with the archive, in words for a person. Only code inside an import throws it, to unwind the stream. */
export class ArchiveProblem extends Error {}

const LONGEST_LINE = 200;

/** Takes a stream of chunks apart: lines and runs of bytes, never more in memory than a chunk or two. */
export class ArchiveReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #hash: ReturnType<typeof sha256Stream>;
  #buffer: Buffer = Buffer.alloc(0);
  #pendingLine: Buffer | undefined;

  constructor(chunks: AsyncIterable<Buffer>, hash: ReturnType<typeof sha256Stream>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#hash = hash;
  }

  /** The next line. Its digest is updated one line later, because the last line holds the digest of those before it. */
  async line(): Promise<string> {
    this.#countLine();
    for (;;) {
      const end = this.#buffer.indexOf(10);
      if (end > LONGEST_LINE || (end < 0 && this.#buffer.length > LONGEST_LINE)) throw new ArchiveProblem('no archive');
      if (end >= 0) {
        this.#pendingLine = this.#buffer.subarray(0, end + 1);
        this.#buffer = this.#buffer.subarray(end + 1);
        return this.#pendingLine.toString('latin1', 0, end);
      }
      await this.#fill();
    }
  }

  async bytes(size: number, take: (piece: Buffer) => void): Promise<void> {
    this.#countLine();
    let left = size;
    while (left > 0) {
      if (this.#buffer.length === 0) await this.#fill();
      const piece = this.#buffer.subarray(0, left);
      this.#buffer = this.#buffer.subarray(piece.length);
      this.#hash.update(piece);
      take(piece);
      left -= piece.length;
    }
    if ((await this.line()) !== '') throw new ArchiveProblem('a record is longer than it says');
  }

  async isAtEnd(): Promise<boolean> {
    return this.#buffer.length === 0 && (await this.#chunks.next()).done === true;
  }

  #countLine(): void {
    if (this.#pendingLine) this.#hash.update(this.#pendingLine);
    this.#pendingLine = undefined;
  }

  async #fill(): Promise<void> {
    const next = await this.#chunks.next();
    if (next.done) throw new ArchiveProblem('the archive is cut short');
    this.#buffer = this.#buffer.length === 0 ? next.value : Buffer.concat([this.#buffer, next.value]);
  }
}
