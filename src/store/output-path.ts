/**
 * Whether a kept file may be written back to this project-relative path. Entries come from archives and other people's
 * folders too: nothing outside of the project, and nothing in it that would run or decide something by being there.
 */
export function isSafeOutputPath(path: string): boolean {
  if (path === '' || path.length > 4096 || /[\0\\]/.test(path) || path.startsWith('/') || /^[A-Za-z]:/.test(path)) {
    return false;
  }
  const names = path.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..')) return false;
  if (names.some((name) => name.toLowerCase() === '.git')) return false;
  return !/^\.pi\/taskflows\/(?:cache|runs|config\.ya?ml$)/i.test(path);
}
