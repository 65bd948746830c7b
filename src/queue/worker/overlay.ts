import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSafeOutputPath } from '../../store/output-path.js';
import { isInside } from '../../util/inside.js';
import type { Order } from '../message.js';
import type { Share } from '../share.js';

/** Makes the project in a checkout equal to the sender's. Returns why it cannot. */
export async function overlay(root: string, { files, absent }: Order, share: Share): Promise<string | undefined> {
  const unsafe = [...files.map(({ path }) => path), ...absent].find((path) => !isSafe(path));
  if (unsafe !== undefined) return `${JSON.stringify(unsafe)} is no place for a file`;
  for (const path of absent) rmSync(join(root, path), { force: true, recursive: true });
  const { blobs } = share.disk;
  const missing = [...new Set(files.map(({ digest }) => digest))].filter((digest) => !blobs.has(digest));
  const cache = share.cache();
  const problems = await Promise.all(missing.map((digest) => cache.getBlob(digest, LARGEST)));
  const problem = problems.find((each) => each !== undefined);
  if (problem !== undefined) return problem;
  for (const { path, digest, mode = 0o644 } of files) {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true });
    if (!isInside(realpathSync(root), realpathSync(dirname(target)))) return `${path} leads out of the checkout`;
    rmSync(target, { force: true, recursive: true });
    const written = blobs.restore(digest, target, mode);
    if ('failed' in written) return written.failed;
  }
  return undefined;
}

/** Larger declared files are refused. */
const LARGEST = 256 * 1024 * 1024;

/** Flows and settings below `.pi` are inputs, too, but the worker does not obey them. */
function isSafe(path: string): boolean {
  return isSafeOutputPath(path.replace(/^\.pi\//, 'pi/'));
}
