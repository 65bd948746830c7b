import { sanitize } from '../util/terminal-text.js';

const CONTEXT = 12;
const LEAST_CONTEXT = 4;
const LONGEST = 48;

/** What differs between two texts, for one line: `"…about cats in…" → "…about dogs in…"`. */
export function shortDiff(before: string, now: string): string {
  const limit = Math.min(before.length, now.length);
  let start = 0;
  while (start < limit && before[start] === now[start]) start += 1;
  let end = 0;
  while (end < limit - start && before.at(-1 - end) === now.at(-1 - end)) end += 1;
  return `${excerpt(before, start, before.length - end)} → ${excerpt(now, start, now.length - end)}`;
}

/** The part from `start` to `end` with a little around it, its middle left out if it is long. */
function excerpt(text: string, start: number, end: number): string {
  const from = wordStart(text, Math.max(0, start - CONTEXT), start);
  const to = Math.min(text.length, end + CONTEXT);
  let part = text.slice(from, to);
  if (part.length > LONGEST) part = `${part.slice(0, LONGEST / 2)}…${part.slice(-LONGEST / 2)}`;
  return quoted(`${from > 0 ? '…' : ''}${part}${to < text.length ? '…' : ''}`);
}

/** On one line and without escapes, which would make a text full of quotes unreadable. */
function quoted(text: string): string {
  const shown = sanitize(text.replaceAll(HALF_CHARACTER, '').replaceAll('\r\n', '\n'))
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t');
  const mark = ['"', "'", '`'].find((candidate) => !shown.includes(candidate)) ?? '"';
  return `${mark}${shown}${mark}`;
}

/** A cut may go through a character that takes two. */
const HALF_CHARACTER = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Begins at a word, if one begins soon enough. */
function wordStart(text: string, from: number, before: number): number {
  if (from === 0) return 0;
  const blank = text.slice(from, Math.max(from, before - LEAST_CONTEXT)).search(/\s/);
  return blank >= 0 ? from + blank + 1 : from;
}
