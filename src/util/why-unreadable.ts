import { inWords } from './why-unwritable.js';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

/** For people, who see the file's name beside it. */
export function whyUnreadable(error: unknown): string {
  return inWords(error, WORDS);
}
