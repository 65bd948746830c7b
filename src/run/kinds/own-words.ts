/** A line of an answer, without Markdown around it. */
export interface OwnLine {
  readonly text: string;
  /** It is quoted: what somebody else has said. */
  readonly quoted: boolean;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/**
 * The lines of an answer, and which of them its author only quotes: in a fence, in a block quote (with the lines that
 * Markdown takes for its continuation), within quotation marks or backticks that were opened before.
 */
export function ownLines(answer: string): OwnLine[] {
  const lines: OwnLine[] = [];
  let fence = '';
  let inBlockQuote = false;
  const marks = new QuotationMarks();
  for (const line of answer.split(/\r\n|[\n\r\u2028\u2029]/)) {
    const [, ticks = '', info = ''] = FENCE.exec(line) ?? [];
    // Backticks behind backticks are code within a line, no fence.
    const opens = fence === '' && ticks !== '' && !(ticks.startsWith('`') && info.includes('`'));
    if (fence !== '' || opens) {
      lines.push({ text: plain(line), quoted: true });
      if (opens) fence = ticks;
      else if (ticks.startsWith(fence) && info.trim() === '') fence = '';
      continue;
    }
    const blank = line.trim() === '';
    inBlockQuote = !blank && (inBlockQuote || /^\s*>/.test(line));
    lines.push({ text: plain(line), quoted: inBlockQuote || marks.areOpen });
    marks.count(line);
  }
  return lines;
}

/** Without emphasis, and without the marks of a heading. */
function plain(line: string): string {
  return line
    .replaceAll(/[*_~]/g, '')
    .replace(/^ {0,3}#{1,6}\s+/, '')
    .trim();
}

/** Each kind comes in pairs: after an odd number of them, a quotation that was begun is not yet at its end. */
class QuotationMarks {
  readonly #open = new Set<string>();

  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  count(line: string): void {
    for (const [mark] of line.matchAll(/["`“”„«»]/g)) {
      const kind = '“”„'.includes(mark) ? '“' : '«»'.includes(mark) ? '«' : mark;
      if (!this.#open.delete(kind)) this.#open.add(kind);
    }
  }
}

/**
 * What follows `NAME:` wherever the author says it on a line of its own. A heading `NAME:` has it on the next
 * line. `negated`: the line before ends with a `not`.
 */
export function statements(lines: readonly OwnLine[], name: string): { said: string; negated: boolean }[] {
  const own = lines.filter(({ text, quoted }) => text !== '' && !quoted).map(({ text }) => text);
  const head = new RegExp(`^(?:(?:final|overall|my|the)\\s+)*${name}\\s*[:=：]\\s*(.*)$`, 'i');
  return own.flatMap((line, index) => {
    const [, behind] = head.exec(line) ?? [];
    if (behind === undefined) return [];
    const negated = /(?:\b(?:not|never|no|cannot)|n['’]t)\s*[:…]?$/i.test(own[index - 1] ?? '');
    return [{ said: behind || (own[index + 1] ?? ''), negated }];
  });
}

/** Whether `NAME:` follows a `not` on the same line. */
export function isNegated(lines: readonly OwnLine[], name: string): boolean {
  const named = new RegExp(`\\b${name}\\s*[:=：]`, 'i');
  return lines.some(({ text, quoted }) => {
    const at = quoted ? -1 : text.search(named);
    return at > 0 && /\b(?:not|never|no|cannot)\b|n['’]t\b/i.test(text.slice(Math.max(0, at - 200), at));
  });
}
