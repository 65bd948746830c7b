/** Names that Windows keeps for itself; a folder of results may be copied anywhere. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

const LONGEST = 60;
const MOST_BYTES = 150;

/**
 * A topic as part of a file name: letters and digits of any script, all else becomes a dash. Empty when a name can hold
 * none of it. `exact`: nothing was cut, and it is no reserved name.
 */
export function slugOf(topic: string): { readonly slug: string; readonly exact: boolean } {
  const words = topic
    .slice(0, 1_000)
    .normalize('NFKC')
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '');
  let slug = '';
  for (const character of words) {
    if (slug.length + character.length > LONGEST || Buffer.byteLength(slug + character) > MOST_BYTES) break;
    slug += character;
  }
  slug = slug.replace(/-+$/, '').normalize('NFC').toLowerCase();
  const whole = slug.length > 0 && words.length <= LONGEST && topic.length <= 1_000;
  return { slug, exact: whole && !RESERVED.test(slug) };
}

/** File names that some file system takes for the same. */
export function folded(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase();
}
