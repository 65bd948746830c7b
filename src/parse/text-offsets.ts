import type { ScalarNode } from './tree.js';

/**
 * Where character `index` of a text stands in the file. The text and what was written differ by quotes, escapes,
 * indentation and folded lines; both are walked together, so that a placeholder or an operator inside a text has an
 * exact place.
 */
export function offsetInText(source: string, node: ScalarNode, index: number): number {
  const value = String(node.value);
  const { style } = node;
  let at = node.start;
  if (style === undefined) return node.start;
  if (style === 'literal' || style === 'folded') at = startOfBlock(source, node.start);
  else if (style !== 'plain') at += 1;
  for (let done = 0; done < index && at < node.end; ) {
    at = skipFolding(source, at, node.end, value, done);
    const { width, units } = writtenUnit(source, at, style);
    at += width;
    done += units;
  }
  return Math.min(skipFolding(source, at, node.end, value, index), node.end);
}

/** The first line behind `|` or `>` and its comment. */
function startOfBlock(source: string, header: number): number {
  const lineEnd = source.indexOf('\n', header);
  return lineEnd === -1 ? header : lineEnd + 1;
}

/**
 * Passes what was written but is not part of the text: indentation, line breaks that became a space, a backslash before
 * a line break. Ends at the character that wrote `value[index]`.
 */
function skipFolding(source: string, from: number, end: number, value: string, index: number): number {
  const wanted = value[index];
  let at = from;
  while (at < end) {
    const char = source[at]!;
    if (char === '\\' && (source[at + 1] === '\n' || source[at + 1] === '\r')) {
      at += 1;
      continue;
    }
    if (!isBlank(char) || char === wanted) return at;
    // A folded line break reads as one space: it stands where the break is.
    if (wanted === ' ' && char === '\n') return at;
    at += 1;
  }
  return at;
}

function isBlank(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r';
}

/** Width in the file of the next unit of the text, and how many UTF-16 units of the text it makes. */
function writtenUnit(source: string, at: number, style: ScalarNode['style']): { width: number; units: number } {
  const char = source[at];
  if (style === 'single' && char === "'" && source[at + 1] === "'") return { width: 2, units: 1 };
  if ((style !== 'json' && style !== 'double') || char !== '\\') return { width: 1, units: 1 };
  switch (source[at + 1]) {
    case 'u':
      return { width: 6, units: 1 };
    case 'x':
      return style === 'double' ? { width: 4, units: 1 } : { width: 2, units: 1 };
    case 'U':
      return { width: 10, units: Number.parseInt(source.slice(at + 2, at + 10), 16) > 0xffff ? 2 : 1 };
    default:
      return { width: 2, units: 1 };
  }
}
