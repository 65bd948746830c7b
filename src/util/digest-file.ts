import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { sha256Hex, sha256Stream } from './digest.js';
import { nextTurn } from './timer.js';

const SMALL = 1024 * 1024;
const CHUNK = 8 * 1024 * 1024;

/** Digest of a file's content. Reads a large file in pieces, so that other work gets its turn. May throw. */
export async function digestFile(path: string, size: number): Promise<string> {
  if (size <= SMALL) return digestSmallFile(path);
  const file = openSync(path, 'r');
  try {
    const hash = sha256Stream();
    const chunk = Buffer.allocUnsafe(CHUNK);
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      hash.update(chunk.subarray(0, read));
      await nextTurn();
    }
    return hash.hex();
  } finally {
    closeSync(file);
  }
}

export function digestSmallFile(path: string): string {
  return sha256Hex(readFileSync(path));
}
