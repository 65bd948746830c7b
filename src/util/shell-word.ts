/** A word quoted for a shell: `each[3f…]/ask` would be a pattern there. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
