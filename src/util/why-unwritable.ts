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

/** For people: without the temporary name that was tried first, which says nothing to them. */
export function whyUnwritable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code !== undefined && WORDS[code]) || message.replace(/, \w+ '.*$/s, '');
}
