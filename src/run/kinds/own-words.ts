/** A line of an answer, without Markdown around it. */
export interface OwnLine {
  readonly text: string;
  /** It is quoted: what somebody else has said. */
  readonly quoted: boolean;
}

const FENCE = /^ {0,3}(`{3,}|~{3,}|'{3,})(.*)$/;
/** What the judge was shown, repeated with the marks around it: see `Fence`. */
const DATA = /^\[data ([0-9a-f]*)\]$/;

/**
 * The lines of an answer, and which of them its author only quotes: in a fence, between marks of data, in an indented
 * block or a block quote (with the lines that Markdown takes for its continuation), within quotation marks, backticks
 * or HTML that was opened before.
 */
export function ownLines(answer: string): OwnLine[] {
  const lines: OwnLine[] = [];
  let fence = '';
  let dataEnd: string | undefined;
  let inBlockQuote = false;
  let wasBlank = true;
  const marks = new QuotationMarks();
  for (const line of answer.split(/\r\n|[\n\r\u2028\u2029]/)) {
    const [, mark] = DATA.exec(line.trim()) ?? [];
    if (dataEnd !== undefined || (fence === '' && mark !== undefined)) {
      lines.push({ text: plain(line), quoted: true });
      dataEnd ??= `[end ${mark}]`;
      if (line.trim() === dataEnd) dataEnd = undefined;
      continue;
    }
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
    const isCode: boolean = wasBlank && /^(?: {4}|\t)/.test(line);
    lines.push({ text: plain(line), quoted: inBlockQuote || isCode || marks.areOpen });
    wasBlank = blank || isCode;
    marks.count(line);
  }
  return lines;
}

/** Without emphasis, and without the marks of a heading. What is struck out stays so. */
function plain(line: string): string {
  return line
    .replaceAll(/[*_]/g, '')
    .replace(/^ {0,3}#{1,6}\s+/, '')
    .trim();
}

const HTML = /<!--|-->|<(\/?)(blockquote|pre|code|q|del|s|details)\b[^>]*>/gi;

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
    // The closing one is an apostrophe as well.
    for (const [mark] of line.matchAll(/[‘’]/g)) mark === '‘' ? this.#open.add('‘') : this.#open.delete('‘');
    for (const [mark, slash, tag = '<!--'] of line.matchAll(HTML)) {
      const kind = tag.toLowerCase();
      if (slash === '/' || mark === '-->') this.#open.delete(kind);
      else this.#open.add(kind);
    }
  }
}

const NOT = "(?:\\b(?:not|never|no|cannot|wrong to)|n['’]t)";
const SAYING = '(?:\\w+\\s+)?(?:say|answer|give|write|return|conclude|be|an?|the|my)';
const NEGATED_BEFORE = new RegExp(`${NOT}(?:\\s+${SAYING})?\\s*[:…]?$`, 'i');

/**
 * What follows `NAME:` wherever the author says it on a line of its own. A heading `NAME:` has it on the next
 * line. `negated`: the line before ends with a `not`, or with what somebody would not say.
 */
export function statements(lines: readonly OwnLine[], name: string): { said: string; negated: boolean }[] {
  const own = lines.filter(({ text, quoted }) => text !== '' && !quoted).map(({ text }) => text);
  const head = new RegExp(`^(?:(?:final|overall|my|the)\\s+)*${name}\\s*[:=：]\\s*(.*)$`, 'i');
  return own.flatMap((line, index) => {
    const [, behind] = head.exec(line) ?? [];
    if (behind === undefined) return [];
    const negated = NEGATED_BEFORE.test(own[index - 1] ?? '');
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
