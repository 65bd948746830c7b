import { randomBytes } from 'node:crypto';
import { createReadStream, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { sha256Stream } from '../util/digest.js';
import { ArchiveProblem, ArchiveReader, MAGIC, parseHead } from './archive-format.js';
import { countAdded } from './collect-marker.js';
import { prepareFolder } from './folder.js';
import { appendEvents } from './index-log.js';
import type { ImportOptions } from './options.js';
import { blobPath, entryPath, stagingName } from './paths.js';
import { Staging } from './staging.js';

export interface Imported {
  /** Added. */
  readonly entries: number;
  readonly blobs: number;
  /** The store had them already, as new or newer. */
  readonly known: number;
}

/**
 * Imports an archive. Everything is unpacked beside the store and checked there, entry by entry; at the first problem
 * the whole archive is refused and nothing of it stays.
 */
export async function importArchive(
  options: ImportOptions,
  file: string,
): Promise<Imported | { readonly refused: string }> {
  const prepared = prepareFolder(options.dir);
  if ('failed' in prepared) return { refused: `cannot write to the cache: ${prepared.failed.message}` };
  const folder = join(options.dir, stagingName(randomBytes(8).toString('hex')));
  try {
    mkdirSync(folder, { mode: 0o700 });
    const staging = new Staging(folder, options);
    await unpack(file, staging, options);
    return useAll(staging, options);
  } catch (error) {
    return { refused: describe(error as NodeJS.ErrnoException) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function unpack(file: string, staging: Staging, { limits }: ImportOptions): Promise<void> {
  const hash = sha256Stream();
  const source = createReadStream(file);
  const unzipped = createGunzip();
  // Unzipping ends with whatever ends the reading; a stream that nobody reads any more is closed below.
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
      if (staging.entries.length >= limits.maxEntries)
        throw new ArchiveProblem('it holds more entries than the cache may');
      await staging.receive(head, (onPiece) => reader.bytes(head.size, onPiece));
    }
  } finally {
    source.destroy();
    unzipped.destroy();
  }
}

/** Blobs first: an entry is complete from the moment it has its name. */
function useAll(staging: Staging, options: ImportOptions): Imported {
  const { dir, project } = options;
  for (const digest of staging.blobs) {
    const target = blobPath(dir, digest);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    renameSync(staging.pathOf(digest), target);
  }
  const added = staging.entries.filter(({ key, row }) => existingAge(dir, key) < row.createdAt);
  for (const { key } of added) renameSync(staging.pathOf(key), entryPath(dir, key));
  const rows = added.map(({ key, row }) => [key, row] as const);
  if (added.length > 0) appendEvents(options, rows, project.clock.now());
  countAdded(dir, added.length, staging.bytes);
  return { entries: added.length, blobs: staging.blobs.size, known: staging.entries.length - added.length };
}

function existingAge(dir: string, key: string): number {
  try {
    const { createdAt } = JSON.parse(readFileSync(entryPath(dir, key), 'utf8')) as { createdAt?: unknown };
    return typeof createdAt === 'number' ? createdAt : -1;
  } catch {
    // None, or a damaged one, which is better replaced.
    return -1;
  }
}

function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof ArchiveProblem) return error.message;
  if (error.code?.startsWith('Z_')) return `it cannot be unpacked (${error.message})`;
  return error.message;
}
