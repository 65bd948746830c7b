import { isJsonObject, type JsonValue } from '../../model/json.js';
import { testPattern } from '../../plan/pattern.js';
import { canonicalEncode } from '../../util/canonical.js';
import { parsedJson } from '../../util/if-there.js';
import type { RawMatchers } from '../file/schema.js';

/** An actual output: its text, and its value where it is JSON. */
export interface ActualText {
  readonly text: string;
  readonly json?: JsonValue;
}

export interface Mismatch {
  /** The path from the matchers to the one that failed. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

const SHOWN = 300;

/** The matchers that a text does not meet. A bare string has to be contained in it. */
export function mismatches(said: ActualText, wanted: string | RawMatchers): readonly Mismatch[] {
  if (typeof wanted === 'string') return missing(said, wanted, []);
  const { contains, lacks, equals, matches, json } = wanted;
  return [
    ...each(contains).flatMap((text, index) => missing(said, text, placeOf('contains', contains, index))),
    ...each(lacks).flatMap((text, index) =>
      said.text.includes(text) ? [{ path: placeOf('lacks', lacks, index), message: `has ${quoted(text)}` }] : [],
    ),
    ...(equals === undefined ? [] : unequal(said, equals as JsonValue)),
    ...(matches === undefined ? [] : unmatched(said, matches)),
    ...(json === undefined ? [] : jsonMismatches(jsonOf(said), json as JsonValue, ['json'])),
  ];
}

function each(texts: string | readonly string[] | undefined): readonly string[] {
  return texts === undefined ? [] : typeof texts === 'string' ? [texts] : texts;
}

function placeOf(name: string, texts: unknown, index: number): readonly (string | number)[] {
  return Array.isArray(texts) ? [name, index] : [name];
}

function missing({ text }: ActualText, wanted: string, path: Mismatch['path']): readonly Mismatch[] {
  return text.includes(wanted) ? [] : [{ path, message: `lacks ${quoted(wanted)}; it is ${quoted(text)}` }];
}

function unequal(said: ActualText, wanted: JsonValue): readonly Mismatch[] {
  if (typeof wanted === 'string') {
    if (said.text.trim() === wanted.trim()) return [];
    return [{ path: ['equals'], message: `is ${quoted(said.text)}, not ${quoted(wanted)}` }];
  }
  const json = jsonOf(said);
  if (json !== undefined && canonicalEncode(json) === canonicalEncode(wanted)) return [];
  return [{ path: ['equals'], message: `is ${shown(json ?? said.text)}, not ${shown(wanted)}` }];
}

function unmatched({ text }: ActualText, source: string): readonly Mismatch[] {
  const tested = testPattern({ source, flags: 'm' }, text);
  if ('error' in tested) return [{ path: ['matches'], message: tested.error }];
  return tested.value ? [] : [{ path: ['matches'], message: `does not match /${source}/; it is ${quoted(text)}` }];
}

/** An output that was not declared as JSON may still be JSON. */
function jsonOf({ text, json }: ActualText): JsonValue | undefined {
  return json ?? (parsedJson(text) as JsonValue | undefined);
}

function jsonMismatches(found: JsonValue | undefined, wanted: JsonValue, path: Mismatch['path']): readonly Mismatch[] {
  if (isJsonObject(wanted) && found !== undefined && isJsonObject(found)) {
    return Object.entries(wanted).flatMap(([name, value]) => jsonMismatches(found[name], value, [...path, name]));
  }
  if (Array.isArray(wanted) && Array.isArray(found) && wanted.length === found.length) {
    return wanted.flatMap((value, index) => jsonMismatches(found[index], value, [...path, index]));
  }
  if (found !== undefined && canonicalEncode(found) === canonicalEncode(wanted)) return [];
  const is = found === undefined ? 'is not there' : `is ${shown(found)}`;
  return [{ path, message: `${is}, not ${shown(wanted)}` }];
}

function shown(value: JsonValue): string {
  return typeof value === 'string' ? quoted(value) : cut(JSON.stringify(value));
}

function quoted(text: string): string {
  return JSON.stringify(cut(text.trimEnd()));
}

function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
