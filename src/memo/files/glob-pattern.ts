/** A pattern of project-relative paths with forward slashes. Names that begin with a dot match like any other. */
export interface GlobPattern {
  readonly text: string;
  /** The pattern has no wildcard: it names one file, or a folder and all that is in it. */
  readonly literal: boolean;
  /** The same for fast-glob: a path matches if any of these does. */
  readonly patterns: readonly string[];
  /** Whether the pattern holds this folder's name literally. */
  names(folder: string): boolean;
}

/** Left out unless a pattern names them: their content says nothing about the project. */
export const LEFT_OUT = ['.git', 'node_modules'];

/** What fast-glob takes for a pattern. Tested here, so that plain names need not load fast-glob. */
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

/** Escapes what only fast-glob treats as special: a bar outside of parentheses, a `!` at the start of a name. */
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
