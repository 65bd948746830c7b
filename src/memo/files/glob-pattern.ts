/** A pattern of project-relative paths with forward slashes. Names that begin with a dot match like any other. */
export interface GlobPattern {
  readonly text: string;
  /** The pattern has no wildcard: it names one file, or a folder and all that is in it. */
  readonly literal: boolean;
  /** The same as fast-glob takes it: a path is meant if any of these matches it. */
  readonly patterns: readonly string[];
  /** Whether the pattern spells this folder's name out, and so means it. */
  names(folder: string): boolean;
}

/** Left out unless a pattern names them: they change for reasons of their own. */
export const LEFT_OUT = ['.git', 'node_modules'];

/** What fast-glob takes for a pattern. Asked here, so that plain names need not load it. */
const WILDCARD = /[*?\\]|^!|\[[^[]*\]|[!+@]\([^(]*\)|\([^(]*\|[^|]*\)|\{[^}]*(?:,|\.\.)[^}]*\}/;

export function hasWildcards(text: string): boolean {
  return WILDCARD.test(text);
}

export function parseGlob(pattern: string): GlobPattern {
  const text = normalise(pattern);
  const literal = !hasWildcards(text);
  return {
    text,
    literal,
    patterns: literal ? [text, `${escapeText(text)}/**`] : [escapeOddities(text)],
    names: (folder) => namesFolder(text, folder),
  };
}

function normalise(pattern: string): string {
  const text = pattern.replace(/\/+/g, '/').replace(/^(?:\.\/)+/, '');
  if (text === '.' || text === '') return '**';
  return text.endsWith('/') ? `${text}**` : text;
}

function escapeText(text: string): string {
  return text.replace(/[!*?|[\](){}]/g, '\\$&');
}

/** A bar outside of parentheses, and a `!` at the start of a name, are plain characters here; not in the library. */
function escapeOddities(text: string): string {
  const bars = text.includes('(') ? text : text.replace(/(?<!\\)\|/g, '\\|');
  return bars.replace(/^!(?!\()/, '\\!');
}

/** A name ends where a folder does, or a choice in braces or parentheses. */
function namesFolder(text: string, folder: string): boolean {
  for (let at = text.indexOf(folder); at >= 0; at = text.indexOf(folder, at + 1)) {
    const before = text[at - 1] ?? '/';
    const after = text[at + folder.length] ?? '/';
    if ('/{,(|'.includes(before) && '/},)|'.includes(after)) return true;
  }
  return false;
}
