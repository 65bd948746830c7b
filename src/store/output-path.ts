import { posix } from 'node:path';
import type { OutputFile } from '../model/outcome.js';

/** The type bits that a stat gives a link: the file's digest is then that of what the link says. */
const LINK = 0o120000;
const TYPE = 0o170000;
export const LINK_MODE = LINK | 0o777;
export const LONGEST_LINK = 4096;

export function isLink({ mode }: Pick<OutputFile, 'mode'>): boolean {
  return (mode & TYPE) === LINK;
}

/**
 * Whether a kept file may be written back to this project-relative path. Entries come from archives and other people's
 * folders too: nothing outside of the project, and nothing below `.git` or `.pi`, which decide what is executed.
 */
export function isSafeOutputPath(path: string): boolean {
  if (path === '' || path.length > 4096 || /[\0\\]/.test(path) || /^[A-Za-z]:/.test(path)) {
    return false;
  }
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..' && !isDeciding(name));
}

/** Characters that some file systems leave out of names, and the short names that others make up. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;
const DECIDING = /^(?:\.git|\.pi|git~\d+|pi~\d+)$/;

function isDeciding(name: string): boolean {
  const plain = name
    .replace(IGNORED, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
  return DECIDING.test(plain.normalize('NFKC').toLowerCase());
}

/** Whether a link at this path may say this: it stays inside, and does not lead to what decides either. */
export function isSafeLink(path: string, target: string): boolean {
  if (target === '' || target.length > LONGEST_LINK || /[\0\\]/.test(target) || target.startsWith('/')) return false;
  if (target.split('/').some(isDeciding)) return false;
  const inProject = posix.normalize(posix.join(posix.dirname(path), target)).replace(/\/$/, '');
  return inProject === '.' || isSafeOutputPath(inProject);
}

/** What is wrong with the files that an entry names, in words; undefined when nothing is. */
export function problemOfFiles(files: readonly OutputFile[]): string | undefined {
  const links = new Set(files.filter(isLink).map(({ path }) => path));
  const before = new Set<string>();
  for (const { path } of files) {
    if (!isSafeOutputPath(path)) return `${JSON.stringify(path)} is no place for a file`;
    if (before.has(path)) return `${path} is in it twice`;
    before.add(path);
    for (let folder = posix.dirname(path); links.size > 0 && folder !== '.'; folder = posix.dirname(folder)) {
      if (links.has(folder)) return `${path} leads through a link of the same result`;
    }
  }
  return undefined;
}
