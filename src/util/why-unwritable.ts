import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { statIfThere } from './stat.js';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder is no folder',
  EEXIST: 'its folder is no folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  ENAMETOOLONG: 'its name is too long',
};

/** For people: without the temporary name, which they do not know. */
export function whyUnwritable(error: unknown): string {
  return inWords(error, WORDS);
}

export function inWords(error: unknown, words: Readonly<Record<string, string>>): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code !== undefined && words[code]) || message.replace(/, \w+ '.*$/s, '');
}

/**
 * Why a folder, or the nearest existing one above it, cannot be written; undefined when it can. For a folder that could
 * not be made, the reason is further up.
 */
export function unwritableFolder(folder: string): string | undefined {
  let at = folder;
  let found = statIfThere(at);
  while (!found && at !== dirname(at)) {
    at = dirname(at);
    found = statIfThere(at);
  }
  if (found && !found.isDirectory()) return `${at} is a file, not a folder`;
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EROFS' ? `${at} is on a read-only file system` : `no permission to write to ${at}`;
  }
}

/** The same of a file that has just failed to be written. */
export function whyUnwritableAt(path: string, error: unknown): string {
  return unwritableFolder(dirname(path)) ?? whyUnwritable(error);
}
