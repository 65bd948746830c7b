import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeAll } from '../util/atomic-write.js';
import { sha256Stream } from '../util/digest.js';
import { statIfThere } from '../util/stat.js';
import { ArchiveProblem } from './archive-format.js';
import { blobsOf } from './entry-blobs.js';
import { decodeEntry } from './entry-format.js';
import { type IndexRow, rowOf } from './index-row.js';
import type { ImportOptions } from './options.js';
import { isLink, isSafeLink, LONGEST_LINK, problemOfFiles } from './output-path.js';
import { blobPath } from './paths.js';

const FUTURE_MS = 5 * 60_000;

/** What an archive holds, unpacked and checked, before any of it is used. */
export class Staging {
  readonly entries: { readonly key: string; readonly row: IndexRow }[] = [];
  readonly blobs = new Set<string>();
  /** Of everything in it. */
  bytes = 0;
  readonly #folder: string;
  readonly #options: ImportOptions;

  constructor(folder: string, options: ImportOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  pathOf(name: string): string {
    return join(this.#folder, name);
  }

  /** Unpacks one record into a file and looks at it. */
  async receive(
    { type, name }: { readonly type: 'blob' | 'entry'; readonly name: string },
    read: (take: (piece: Buffer) => void) => Promise<void>,
  ): Promise<void> {
    const hash = sha256Stream();
    const path = this.pathOf(name);
    if (statIfThere(path)) throw new ArchiveProblem(`${type} ${name} is in it twice`);
    const file = openSync(path, 'wx', 0o600);
    try {
      await read((piece) => {
        hash.update(piece);
        writeAll(file, piece);
        this.bytes += piece.length;
      });
    } finally {
      closeSync(file);
    }
    if (type === 'entry') this.#checkEntry(name);
    else if (hash.hex() === name) this.blobs.add(name);
    else throw new ArchiveProblem(`blob ${name} is not what its name says`);
  }

  checkCounts({ entries, blobs }: { readonly entries: number; readonly blobs: number }): void {
    if (entries !== this.entries.length || blobs !== this.blobs.size) throw new ArchiveProblem('something is missing');
  }

  #checkEntry(key: string): void {
    const { signingKey, recomputeKey, project, dir } = this.#options;
    const refuse = (why: string) => new ArchiveProblem(`entry ${key}: ${why}`);
    const decoded = decodeEntry(readFileSync(this.pathOf(key), 'utf8'), key, signingKey);
    if ('miss' in decoded) throw refuse(decoded.miss.reason.replace('damaged entry set aside', 'it is damaged'));
    const { identity, createdAt, files } = decoded.entry;
    const expected = recomputeKey?.(identity);
    if (expected !== undefined && expected !== key) throw refuse('its identity belongs to another key');
    if (createdAt > project.clock.now() + FUTURE_MS) throw refuse('it is from the future');
    const problem = problemOfFiles(files);
    if (problem !== undefined) throw refuse(problem);
    for (const file of files) {
      const { path, digest } = file;
      const blob = this.blobs.has(digest) ? this.pathOf(digest) : blobPath(dir, digest);
      const stat = statIfThere(blob);
      if (!stat) throw refuse(`the file ${path} is missing`);
      if (isLink(file) && (stat.size > LONGEST_LINK || !isSafeLink(path, readFileSync(blob, 'utf8'))))
        throw refuse(`${path} is a link that leaves the project, or leads to .git or .pi`);
    }
    const missing = blobsOf(decoded.entry).find(
      (digest) => !this.blobs.has(digest) && !statIfThere(blobPath(dir, digest)),
    );
    if (missing !== undefined) throw refuse('its output is missing');
    const { ino, size } = statSync(this.pathOf(key));
    this.entries.push({ key, row: rowOf(decoded.entry, { ino, size, usedAt: project.clock.now() }) });
  }
}
