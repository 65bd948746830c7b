import type { SyntaxProblem } from './tree.js';

/** A line that is not empty. */
interface Line {
  readonly number: number;
  readonly offset: number;
  readonly indent: number;
  readonly text: string;
}

/** A column in which an entry of a surrounding list or object starts, with that entry. */
interface Start {
  readonly column: number;
  readonly line: number;
  readonly text: string;
}

/**
 * A line that starts in no column of its surroundings: both indentations, and the line that it should match. `inList`:
 * the parser expects a further entry of a list.
 */
export function indentationProblem(
  text: string,
  offset: number,
  inList: boolean,
): (Pick<SyntaxProblem, 'message' | 'hint'> & { readonly offset: number; readonly length: number }) | undefined {
  const lines = linesOf(text);
  const starting = lines.findLastIndex((line) => line.offset <= offset);
  const pointed = lines[starting];
  // The parser points at the value before a line that is indented too far.
  const at = pointed && offset > pointed.offset + pointed.indent ? starting + 1 : starting;
  const line = lines[at];
  if (!line) return undefined;
  const starts = startsAbove(lines.slice(0, at)).filter(({ text: above }) => isEntry(above) === isEntry(line.text));
  const wanted = nearestTo(line.indent, starts);
  if (!wanted || wanted.column === line.indent) return undefined;
  const also = inList && !isEntry(line.text) ? '; or "- " is missing, if it is a further entry of the list' : '';
  return {
    offset: line.offset + line.indent,
    length: Math.min(line.text.length, 40),
    message: `this line is indented by ${line.indent}, and ${named(wanted)} by ${wanted.column}`,
    hint: `what belongs together starts in the same column${also}`,
  };
}

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  let offset = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const content = line.trim();
    const indent = line.length - line.trimStart().length;
    if (content !== '' && !content.startsWith('#')) lines.push({ number: index + 1, offset, indent, text: content });
    offset += line.length + 1;
  }
  return lines;
}

/** From the innermost outwards. The name after a dash starts a column of its own. */
function startsAbove(lines: readonly Line[]): readonly Start[] {
  const starts: Start[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const { indent, text, number } of lines.toReversed()) {
    if (indent >= least) continue;
    least = indent;
    const dashes = /^(?:- +)+/.exec(text)?.[0] ?? '';
    if (dashes !== '' && text.length > dashes.length) {
      starts.push({ column: indent + dashes.length, line: number, text: text.slice(dashes.length) });
    }
    starts.push({ column: indent, line: number, text });
  }
  return starts;
}

function isEntry(text: string): boolean {
  return /^-(?:\s|$)/.test(text);
}

/** The innermost of the equally distant ones. */
function nearestTo(indent: number, starts: readonly Start[]): Start | undefined {
  const distance = ({ column }: Start) => Math.abs(column - indent);
  return starts.toSorted((a, b) => distance(a) - distance(b))[0];
}

function named({ line, text }: Start): string {
  return `line ${line} (${JSON.stringify(text.length > 30 ? `${text.slice(0, 30)}…` : text)})`;
}
