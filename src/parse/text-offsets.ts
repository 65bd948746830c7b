import type { ScalarNode } from './tree.js';

/** The rest of a text that is still to be followed. */
interface Stretch {
  readonly at: number;
  readonly end: number;
}

/** Cached, so that a long text with many problems is followed once. */
const followed = new WeakMap<ScalarNode, readonly number[]>();

/**
 * Where character `index` of a text is in the file. The source differs from the text by quotes, escapes, indentation
 * and folded lines; following both gives the exact place of a placeholder or an operator.
 */
export function offsetInText(source: string, node: ScalarNode, index: number): number {
  let offsets = followed.get(node);
  if (!offsets) {
    offsets = offsetsOf(source, node);
    followed.set(node, offsets);
  }
  return Math.min(offsets[index] ?? node.end - 1, Math.max(node.start, node.end - 1));
}

function offsetsOf(source: string, node: ScalarNode): readonly number[] {
  switch (node.style) {
    case undefined:
      return [node.start];
    case 'json':
    case 'double':
      return quotedOffsets(source, node);
    case 'literal':
    case 'folded':
      return alignedOffsets(source, node, startOfBlock(source, node.start));
    case 'plain':
      return alignedOffsets(source, node, node.start);
    case 'single':
      return alignedOffsets(source, node, node.start + 1);
  }
}

/** The first line behind `|` or `>` and its comment. */
function startOfBlock(source: string, header: number): number {
  const lineEnd = source.indexOf('\n', header);
  return lineEnd === -1 ? header : lineEnd + 1;
}

/**
 * Texts without escapes: all characters but blanks are the same in both, so the two are walked together, and blanks
 * that the text does not have (indentation, folded breaks) are skipped.
 */
function alignedOffsets(source: string, node: ScalarNode, from: number): readonly number[] {
  const value = String(node.value);
  const offsets: number[] = [];
  let at = from;
  for (let index = 0; index < value.length && at < node.end; index++) {
    at = passBlanks(source, { at, end: node.end }, value[index]);
    offsets.push(at);
    at += node.style === 'single' && source[at] === "'" && source[at + 1] === "'" ? 2 : 1;
  }
  return offsets;
}

function passBlanks(source: string, { at: from, end }: Stretch, wanted: string | undefined): number {
  let at = from;
  while (at < end && isBlank(source[at]!) && source[at] !== wanted) {
    // A folded line break is one space, at the place of the break.
    if (wanted === ' ' && source[at] === '\n') return at;
    at += 1;
  }
  return at;
}

function isBlank(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r';
}

/**
 * Double quotes: escapes may stand for blanks, too, so the text is decoded by the rules, with the place of each unit.
 */
function quotedOffsets(source: string, { start, end }: ScalarNode): readonly number[] {
  const offsets: number[] = [];
  /** Blanks at the end of `offsets` that are dropped if the line ends here. */
  let trailing = 0;
  let at = start + 1;
  while (at < end - 1) {
    const char = source[at]!;
    if (char === '\n' || char === '\r') {
      offsets.length -= trailing;
      at = foldBreaks(source, { at, end }, offsets);
      trailing = 0;
    } else if (char === '\\') {
      at = readEscape(source, { at, end }, offsets);
      trailing = 0;
    } else {
      offsets.push(at);
      trailing = char === ' ' || char === '\t' ? trailing + 1 : 0;
      at += 1;
    }
  }
  return offsets;
}

/** One break becomes a space, n breaks become n - 1; the indentation after them is dropped. */
function foldBreaks(source: string, { at: from, end }: Stretch, offsets: number[]): number {
  const breaks: number[] = [];
  let at = from;
  while (at < end && isBlank(source[at]!)) {
    if (source[at] === '\n') breaks.push(at);
    at += 1;
  }
  offsets.push(...(breaks.length > 1 ? breaks.slice(1) : breaks));
  return at;
}

function readEscape(source: string, { at, end }: Stretch, offsets: number[]): number {
  const next = source[at + 1];
  if (next === '\n' || next === '\r') {
    let behind = source.indexOf('\n', at) + 1;
    while (behind < end && (source[behind] === ' ' || source[behind] === '\t')) behind += 1;
    return behind;
  }
  const width = next === 'u' ? 6 : next === 'x' ? 4 : next === 'U' ? 10 : 2;
  offsets.push(at);
  if (next === 'U' && Number.parseInt(source.slice(at + 2, at + 10), 16) > 0xffff) offsets.push(at);
  return at + width;
}
