/** A pattern of project-relative paths with forward slashes. Files whose names begin with a dot are files like any other. */
export interface GlobPattern {
  readonly text: string;
  /** The folder that every match is in; empty for the root. */
  readonly base: string;
  /** The pattern has no wildcard: it names one file, or a folder and all that is in it. */
  readonly literal: boolean;
  matches(path: string): boolean;
  /** False when nothing in this folder (relative, not the base itself) can match: it need not be read. */
  mayContain(folder: string): boolean;
  /** Whether the pattern spells this folder's name out, and so means it. */
  names(folder: string): boolean;
}

const SPECIAL = /[*?[\]{}()!+@\\]/;
const PLAIN_WILDCARDS = /^[^[\]{}()!+@\\]*$/;

/** `src/**`, `src/**` with `/*` or `/*.ts` behind it: what most people write, and ten times quicker without an expression. */
const SIMPLE = /^((?:[^*?[\]{}()!+@\\]+\/)?)\*\*(?:\/\*([^/*?[\]{}()!+@\\]*))?$/;

/** True for a path that any of the patterns means. */
export async function compileGlobs(patterns: readonly string[]): Promise<(path: string) => boolean> {
  if (patterns.length === 0) return () => false;
  const compiled = await Promise.all(patterns.map(compileGlob));
  return (path) => compiled.some((pattern) => pattern.matches(path));
}

/** Loads the glob library only for patterns with more than `*`, `**` and `?` in them. */
export async function compileGlob(pattern: string): Promise<GlobPattern> {
  const text = normalise(pattern);
  const segments = text === '' ? [] : text.split('/');
  const literal = !SPECIAL.test(text);
  return {
    text,
    base: baseOf(segments, literal),
    literal,
    matches: await matcherOf(text, literal),
    mayContain: folderFilter(text, segments),
    names: (folder) => `/${text}/`.includes(`/${folder}/`),
  };
}

function normalise(pattern: string): string {
  const text = pattern.replace(/\/+/g, '/').replace(/^(?:\.\/)+/, '');
  if (text === '.' || text === '' || text === './') return '**';
  return text.endsWith('/') ? `${text}**` : text;
}

function baseOf(segments: readonly string[], literal: boolean): string {
  if (literal) return segments.slice(0, -1).join('/');
  return segments
    .slice(
      0,
      segments.findIndex((segment) => SPECIAL.test(segment)),
    )
    .join('/');
}

async function matcherOf(text: string, literal: boolean): Promise<(path: string) => boolean> {
  if (literal) return (path) => path === text || path.startsWith(`${text}/`);
  const simple = SIMPLE.exec(text);
  if (simple) {
    const [, folder = '', ending = ''] = simple;
    return (path) => path.startsWith(folder) && path.endsWith(ending) && path.length > folder.length;
  }
  if (PLAIN_WILDCARDS.test(text)) {
    const expression = plainExpression(text);
    return (path) => expression.test(path);
  }
  const { default: picomatch } = await import('picomatch');
  // A bar outside of parentheses is a character of a name, which the library would take for an alternative.
  const safe = text.includes('(') ? text : text.replaceAll('|', '\\|');
  return picomatch(safe, { dot: true, strictSlashes: true });
}

/** `*` and `?` stay within a name, a whole `**` stands for any number of folders. */
function plainExpression(text: string): RegExp {
  const segments = text.split('/');
  let source = '';
  for (const [i, segment] of segments.entries()) {
    const last = i === segments.length - 1;
    if (segment === '**') source += last ? '.+' : '(?:[^/]+/)*';
    else source += segmentSource(segment) + (last ? '' : '/');
  }
  return new RegExp(`^${source}$`, 's');
}

function segmentSource(segment: string): string {
  const source = segment.replace(/\*+|\?|[.^$|\-/]/g, (part) => {
    if (part === '?') return '[^/]';
    return part.startsWith('*') ? '[^/]*' : `\\${part}`;
  });
  // A lone wildcard is a name, and a name has at least one character.
  return /^\*+$/.test(segment) ? '[^/]+' : source;
}

/** Folders are compared with the pattern's segments up to the first one that may stand for several. */
function folderFilter(text: string, segments: readonly string[]): (folder: string) => boolean {
  // Braces and the like may hold slashes: then segments say nothing.
  if (!PLAIN_WILDCARDS.test(text)) return () => true;
  const open = segments.findIndex((segment) => segment.includes('**'));
  const fixed = open < 0 ? segments.slice(0, -1) : segments.slice(0, open);
  const tests = fixed.map((segment) => (SPECIAL.test(segment) ? plainExpression(segment) : segment));
  const literal = !SPECIAL.test(text);
  return (folder) => {
    if (literal && (folder === text || folder.startsWith(`${text}/`))) return true;
    const names = folder.split('/');
    if (open < 0 && names.length > tests.length) return false;
    return names.every((name, i) => {
      const test = tests[i];
      return test === undefined || (typeof test === 'string' ? test === name : test.test(name));
    });
  };
}
