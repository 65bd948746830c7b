import { DEEPEST_NESTING, duplicateKey, nestingProblem, type SyntaxProblem } from './tree.js';

/** What one pass over a JSON text finds. */
interface JsonScan {
  readonly problems: readonly SyntaxProblem[];
  /** Where each entry of the top-level list `phases` starts. */
  readonly phases: readonly number[];
}

/**
 * One pass over JSON text (comments allowed) for what `JSON.parse` does not report: names given twice, and nesting that
 * is too deep. For text that is not JSON the result is useless: the parser reports what is wrong with it.
 */
export function scanJson(text: string): JsonScan {
  const problems: SyntaxProblem[] = [];
  const phases: number[] = [];
  let topField = '';
  /** Names seen so far in each open object; null for an open list. */
  const open: (Set<string> | null)[] = [];
  // An expression skips everything between much faster than a loop.
  const next = /["{}[\]/]/g;
  while (next.test(text)) {
    const index = next.lastIndex - 1;
    const char = text.charCodeAt(index);
    if (char === QUOTE) {
      const end = endOfString(text, index);
      const names = open.at(-1);
      if (names && isKey(text, end)) {
        if (open.length === 1) topField = text.slice(index + 1, end - 1);
        const key = keyAt(text, index, end);
        if (names.has(key)) problems.push(duplicateKey(key, index, end - index));
        else names.add(key);
      }
      next.lastIndex = end;
    } else if (char === OPEN_OBJECT || char === OPEN_LIST) {
      if (open.length === 2 && topField === 'phases' && open[1] === null) phases.push(index);
      open.push(char === OPEN_OBJECT ? new Set() : null);
      if (open.length > DEEPEST_NESTING) return { problems: [nestingProblem(index)], phases };
    } else if (char === CLOSE_OBJECT || char === CLOSE_LIST) {
      open.pop();
    } else if (char === SLASH) {
      next.lastIndex = skipComment(text, index) + 1;
    }
  }
  return { problems, phases };
}

const QUOTE = 34;
const SLASH = 47;
const BACKSLASH = 92;
const COLON = 58;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;

/** Just behind the closing quote. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (text.charCodeAt(quote - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** Objects alternate names and values, and only a name is followed by a colon. */
function isKey(text: string, from: number): boolean {
  for (let index = from; index < text.length; index++) {
    const char = text.charCodeAt(index);
    if (char === COLON) return true;
    if (char === SLASH) index = skipComment(text, index);
    else if (char > 32) return false;
  }
  return false;
}

function keyAt(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  return raw.includes('\\') ? unescaped(raw) : raw;
}

function unescaped(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    // Not a JSON string, which the parser reports: until then the raw text serves as the name.
    return raw;
  }
}

/** Last character of the comment, or the slash itself when it starts none. */
function skipComment(text: string, start: number): number {
  if (text[start + 1] === '/') {
    const end = text.indexOf('\n', start);
    return end === -1 ? text.length : end;
  }
  if (text[start + 1] === '*') {
    const end = text.indexOf('*/', start + 2);
    return end === -1 ? text.length : end + 1;
  }
  return start;
}
