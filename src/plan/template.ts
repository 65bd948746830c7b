import type { Failure } from '../model/failure.js';
import type { JsonValue } from '../model/json.js';
import { type PlaceholderRef, readPlaceholder, type Suspect } from './placeholder.js';

type Segment =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'ref'; readonly ref: PlaceholderRef };

export interface Template {
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly suspects: readonly Suspect[];
}

const NO_SUSPECTS: readonly Suspect[] = [];

/**
 * Splits a text at its placeholders. A brace that starts no known placeholder is text; a whole placeholder in double
 * braces is the text of a placeholder. `itemName` is the further name that a map gave its variable (`as`).
 */
export function parseTemplate(text: string, itemName = 'item'): Template {
  if (!text.includes('{')) return { text, segments: [{ type: 'text', text }], suspects: NO_SUSPECTS };
  const segments: Segment[] = [];
  const suspects: Suspect[] = [];
  let plain = '';
  let index = 0;
  const flush = () => {
    if (plain !== '') segments.push({ type: 'text', text: plain });
    plain = '';
  };
  while (index < text.length) {
    const brace = text.indexOf('{', index);
    if (brace === -1) {
      plain += text.slice(index);
      break;
    }
    plain += text.slice(index, brace);
    const escaped = text[brace + 1] === '{' ? readPlaceholder(text, brace + 1, itemName) : undefined;
    if (escaped && text[brace + 1 + escaped.length] === '}') {
      plain += text.slice(brace + 1, brace + 1 + escaped.length);
      index = brace + escaped.length + 2;
      continue;
    }
    const found = readPlaceholder(text, brace, itemName);
    if (found && 'root' in found) {
      flush();
      segments.push({ type: 'ref', ref: found });
      index = brace + found.length;
    } else {
      if (found) suspects.push(found);
      plain += '{';
      index = brace + 1;
    }
  }
  flush();
  if (segments.length === 0) segments.push({ type: 'text', text: '' });
  return { text, segments, suspects };
}

/** The placeholders of a template, in order. */
export function templateRefs(template: Template): readonly PlaceholderRef[] {
  const refs: PlaceholderRef[] = [];
  for (const segment of template.segments) if (segment.type === 'ref') refs.push(segment.ref);
  return refs;
}

/**
 * Looks up one placeholder. `base64`: the value's bytes, where they are not text. `failure`: there is a value, but it
 * cannot be used.
 */
export type Lookup = (
  ref: PlaceholderRef,
) =>
  | { readonly found: true; readonly value: unknown; readonly base64?: string }
  | { readonly found: false; readonly failure?: Failure };

export interface Rendered {
  /** The value itself when the template is exactly one placeholder, else the text. */
  readonly value: JsonValue;
  readonly text: string;
  /** Placeholders without a value, as written. They stay in the text. */
  readonly unresolved: readonly string[];
  /** The template is exactly one placeholder, and its value is these bytes. */
  readonly base64?: string;
}

const NOTHING_UNRESOLVED: readonly string[] = [];

export function renderTemplate(template: Template, lookup: Lookup): Rendered {
  const { segments } = template;
  const only = segments.length === 1 ? segments[0]! : undefined;
  if (only?.type === 'text') return { value: only.text, text: only.text, unresolved: NOTHING_UNRESOLVED };
  if (only?.type === 'ref') return renderSingle(only.ref, lookup);
  let text = '';
  const unresolved: string[] = [];
  for (const segment of segments) {
    if (segment.type === 'text') {
      text += segment.text;
      continue;
    }
    const found = lookup(segment.ref);
    if (found.found && found.value !== undefined) {
      text += valueText(found.value);
    } else {
      unresolved.push(segment.ref.text);
      text += `{${segment.ref.text}}`;
    }
  }
  return { value: text, text, unresolved };
}

function renderSingle(ref: PlaceholderRef, lookup: Lookup): Rendered {
  const found = lookup(ref);
  if (!found.found || found.value === undefined) {
    const text = `{${ref.text}}`;
    return { value: text, text, unresolved: [ref.text] };
  }
  return {
    value: found.value as JsonValue,
    text: valueText(found.value),
    unresolved: NOTHING_UNRESOLVED,
    ...(found.base64 === undefined ? {} : { base64: found.base64 }),
  };
}

/** Text unchanged; anything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Follows properties and list positions; only own properties, never those of a prototype. */
export function followPath(
  start: unknown,
  path: readonly string[],
): { readonly found: true; readonly value: unknown } | { readonly found: false } {
  let value = start;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return { found: false };
    value = (value as Record<string, unknown>)[name];
  }
  return value === undefined ? { found: false } : { found: true, value };
}
