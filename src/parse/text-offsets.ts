import type { ScalarNode } from './tree.js';

/** What is still to be followed of a text. */
interface Stretch {
  readonly at: number;
  readonly end: number;
}

/** A long text with many problems is followed once, not once per problem. */
const followed = new WeakMap<ScalarNode, readonly number[]>();

/**
 * Where character `index` of a text stands in the file. What was written differs from the text by quotes, escapes,
 * indentation and folded lines; following both makes the place of a placeholder or an operator inside it exact.
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
 * Texts without escapes: everything but blanks is written as it is, so the two are walked together, and blanks that the
 * text does not have (indentation, breaks that became a space) are passed.
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
    // A folded line break reads as one space: it stands where the break is.
    if (wanted === ' ' && source[at] === '\n') return at;
    at += 1;
  }
  return at;
}

function isBlank(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r';
}

/**
 * Double quotes: escapes can write blanks too, so the text is decoded by the rules, keeping where each unit came
 * from.
 */
function quotedOffsets(source: string, { start, end }: ScalarNode): readonly number[] {
  const offsets: number[] = [];
  /** Blanks at the end of `offsets` that vanish if the line ends here. */
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

/** One break is a space, more are as many breaks less one; the indentation behind them is nothing. */
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
