import { isJsonObject, type JsonObject } from '../../model/json.js';
import { strictJson } from '../core/output.js';
import { type OwnLine, ownLines } from './own-words.js';

/** A judge's answer in its two notations. Text inside JSON is quoted: it is no statement of the judge. */
export interface Answer {
  /** The JSON objects in it, in order; the whole answer may be one. */
  readonly objects: readonly SaidObject[];
  /** The lines of the rest. */
  readonly lines: readonly OwnLine[];
}

export interface SaidObject {
  readonly fields: JsonObject;
  /** As it was written. */
  readonly text: string;
  /** It is what the answer ends with, and no quotation: the judge's own word. */
  readonly isOwn: boolean;
}

const QUOTE = '"';
/** Text full of opening braces is no JSON, and each of them costs a look. */
const MOST_BRACES = 200;

export function readAnswer(text: string): Answer {
  const whole = strictJson(text.trim());
  // A text in quotation marks is JSON too, but one that is quoted.
  if (whole !== undefined && typeof whole !== 'string') {
    return { objects: isJsonObject(whole) ? [{ fields: whole, text, isOwn: true }] : [], lines: [] };
  }
  const objects: SaidObject[] = [];
  let prose = '';
  let rest = 0;
  let braces = 0;
  for (let start = text.indexOf('{'); start !== -1 && braces < MOST_BRACES; start = text.indexOf('{', start + 1)) {
    braces += 1;
    const end = endOfObject(text, start);
    const value = end === undefined ? undefined : strictJson(text.slice(start, end));
    if (end === undefined || value === undefined || !isJsonObject(value)) continue;
    objects.push({ fields: value, text: text.slice(start, end), isOwn: isOwn(text.slice(0, start), text.slice(end)) });
    prose += `${text.slice(rest, start)}\n`;
    rest = end;
    start = end - 1;
  }
  return { objects, lines: ownLines(prose + text.slice(rest)) };
}

const FENCE_BEFORE = /(?:^|\n) {0,3}(?:`{3,}|~{3,})[ \t]*\w*[ \t]*\n[ \t]*$/;
const FENCE_AFTER = /^(?:`{3,}|~{3,})?$/;

/** On lines of its own at the end, in a fence of its own or in none. */
function isOwn(before: string, after: string): boolean {
  if (!FENCE_AFTER.test(after.trim())) return false;
  const outside = before.replace(FENCE_BEFORE, '\n');
  const place = ownLines(`${outside}here`).at(-1);
  return place !== undefined && place.text === 'here' && !place.quoted;
}

/** Just behind the brace that closes the one at `start`. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let index = start; index < text.length; index++) {
    const char = text[index];
    if (quoted && char === '\\') index += 1;
    else if (char === QUOTE) quoted = !quoted;
    else if (!quoted && char === '{') depth += 1;
    else if (!quoted && char === '}') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return undefined;
}
