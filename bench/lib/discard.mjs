import { mkdirSync, renameSync } from 'node:fs';
import { WORK } from './paths.mjs';

const DISCARDED = `${WORK}/discarded`;
let count = 0;

/**
 * Takes a file or folder out of the way; it is removed when the bench ends. Removing it at once would be unfair to
 * whoever runs next: ext4 does not give the inodes of files that were just removed to new ones, and looking past a
 * thousand of them makes the next thousand files many times as dear. @param {string} path
 */
export function discard(path) {
  mkdirSync(DISCARDED, { recursive: true });
  count += 1;
  try {
    renameSync(path, `${DISCARDED}/${count}`);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}
