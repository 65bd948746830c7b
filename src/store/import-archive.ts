import { randomBytes } from 'node:crypto';
import { createReadStream, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { sha256Stream } from '../util/digest.js';
import { whyUnreadable } from '../util/why-unreadable.js';
import { ArchiveProblem, ArchiveReader, MAGIC, parseHead } from './archive-format.js';
import { countAdded } from './collect-marker.js';
import { prepareFolder } from './folder.js';
import { logLine, restOfRow } from './index-lines.js';
import { appendLines } from './index-log.js';
import { isOfPaths } from './index-row.js';
import type { ImportOptions } from './options.js';
import { Interrupted, Pace, type Watcher } from './pace.js';
import { blobPath, entryPath, stagingName } from './paths.js';
import { Staging } from './staging.js';

export interface Imported {
  /** Results that were added. Entries of path sets are not counted. */
  readonly entries: number;
  readonly blobs: number;
  /** Results that the store had already, as new or newer. */
  readonly known: number;
}

/**
 * Imports an archive. Unpacks it beside the store and checks entry by entry; at the first problem the whole archive is
 * refused and nothing of it stays.
 */
export async function importArchive(
  options: ImportOptions,
  file: string,
  watcher?: Watcher,
): Promise<Imported | { readonly refused: string }> {
  const prepared = prepareFolder(options.dir);
  if ('failed' in prepared) return { refused: `cannot write to the cache: ${prepared.failed.message}` };
  const folder = join(options.dir, stagingName(randomBytes(8).toString('hex')));
  const pace = new Pace(watcher);
  let staging: Staging | undefined;
  try {
    mkdirSync(folder, { mode: 0o700 });
    staging = new Staging(folder, options);
    await unpack(file, { staging, limits: options.limits }, pace);
    return await useAll(staging, options, pace);
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    return { refused: describe(error as NodeJS.ErrnoException) };
  } finally {
    staging?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function unpack(
  file: string,
  { staging, limits }: { readonly staging: Staging; readonly limits: ImportOptions['limits'] },
  pace: Pace,
): Promise<void> {
  pace.begin('checking the archive');
  const hash = sha256Stream();
  const source = createReadStream(file);
  const unzipped = createGunzip();
  // A read error ends the unzipping, too. A stream that is not read to its end is closed below.
  source.on('error', (error) => unzipped.destroy(error));
  source.pipe(unzipped);
  try {
    const reader = new ArchiveReader(unzipped, hash);
    if (`${await reader.line()}\n` !== MAGIC) throw new ArchiveProblem('it is no cache archive of this version');
    let total = 0;
    for (;;) {
      const head = parseHead(await reader.line());
      if (head === undefined) throw new ArchiveProblem('a record does not begin as it should');
      if (head.type === 'end') {
        if (head.digest !== hash.hex()) throw new ArchiveProblem('its checksum does not match');
        staging.checkCounts(head);
        if (!(await reader.isAtEnd())) throw new ArchiveProblem('there is something behind its end');
        return;
      }
      total += head.size;
      if (total > limits.maxBytes)
        throw new ArchiveProblem(`it holds more than the cache may (${limits.maxBytes} bytes)`);
      await staging.receive(head, (onPiece) => reader.bytes(head.size, onPiece));
      if (staging.results > limits.maxEntries) throw new ArchiveProblem('it holds more entries than the cache may');
      if (pace.tick()) await pace.rest();
    }
  } finally {
    source.destroy();
    unzipped.destroy();
  }
}

/** Blobs first: an entry is complete from the moment it has its name. */
async function useAll(staging: Staging, { dir, signingKey }: ImportOptions, pace: Pace): Promise<Imported> {
  const { blobs } = staging;
  pace.begin('importing kept files', blobs.size);
  for (let slot = 0; slot < blobs.size; slot++) {
    const target = blobPath(dir, blobs.keyAt(slot));
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    staging.placeBlob(slot, target);
    if (pace.tick()) await pace.rest();
  }
  let [entries, placed] = [0, 0];
  pace.begin('importing entries', staging.keys.size);
  for (const rows of staging.rows()) {
    const added = rows.filter((row) => isOfPaths(row) || existingAge(dir, row.key) < row.createdAt);
    const lines = added.map((row) => {
      const rest = restOfRow({ ...row, ...staging.placeEntry(row) });
      return logLine({ key: row.key, usedAt: row.usedAt, rest }, signingKey);
    });
    if (added.length > 0) appendLines(dir, lines);
    placed += added.length;
    entries += added.filter((row) => !isOfPaths(row)).length;
    if (pace.tick(rows.length)) await pace.rest();
  }
  countAdded(dir, placed, staging.bytes);
  return { entries, blobs: blobs.size, known: staging.results - entries };
}

function existingAge(dir: string, key: string): number {
  try {
    const { createdAt } = JSON.parse(readFileSync(entryPath(dir, key), 'utf8')) as { createdAt?: unknown };
    return typeof createdAt === 'number' ? createdAt : -1;
  } catch {
    // There is none, or a damaged one, which the import replaces.
    return -1;
  }
}

function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof ArchiveProblem) return error.message;
  if (error.code?.startsWith('Z_')) return `it cannot be unpacked (${error.message})`;
  return whyUnreadable(error);
}
