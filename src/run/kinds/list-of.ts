import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.js';
import { jsonWithin } from '../core/output.js';

/** The items of a map. `took`: said beside the result where `over` was not a list itself. */
type FoundList = { readonly list: readonly JsonValue[]; readonly took?: string } | { readonly problem: string };

/** Names under which agents like to put the list that they were asked for. */
const USUAL_NAMES = ['items', 'results', 'list', 'data', 'findings'];

/**
 * A list; an object with exactly one list; a text that is one of these; the lines of a text, as far as one more than
 * `most`. An empty text (a skipped phase) is an empty list.
 */
export function listOf(value: JsonValue, most: number): FoundList {
  if (Array.isArray(value)) return { list: value };
  if (isJsonObject(value)) return listIn(value);
  if (typeof value !== 'string') return { problem: shown(value) };
  if (value.trim() === '') return { list: [] };
  const within = jsonWithin(value);
  if (Array.isArray(within)) return { list: within, took: 'over: took the JSON list in the text' };
  if (isJsonObject(within)) return listIn(within);
  if (within !== undefined) return { problem: shown(within) };
  return { list: fullLines(value, most + 1), took: 'over: took one item per line' };
}

/** Under a usual name, else anywhere; two lists are none, because nobody can say which one is meant. */
function listIn(value: JsonObject): FoundList {
  const lists = Object.keys(value).filter((name) => Array.isArray(value[name]));
  const usual = lists.filter((name) => USUAL_NAMES.includes(name));
  const names = usual.length === 0 ? lists : usual;
  const [name] = names;
  if (name === undefined) return { problem: `${shown(value)} has no list in it` };
  if (names.length > 1) return { problem: `an object with several lists (${names.join(', ')})` };
  return {
    list: value[name] as readonly JsonValue[],
    took: `over: took the list ${JSON.stringify(name)} of the object`,
  };
}

function shown(value: JsonValue): string {
  return JSON.stringify(value).slice(0, 120);
}

function fullLines(text: string, most: number): readonly string[] {
  const lines: string[] = [];
  for (let start = 0; start <= text.length && lines.length < most; ) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    const line = text.slice(start, end > start && text[end - 1] === '\r' && found !== -1 ? end - 1 : end);
    if (line.trim() !== '') lines.push(line);
    start = end + 1;
  }
  return lines;
}
