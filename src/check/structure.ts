import type { TSchema } from '@sinclair/typebox';
import type { Path } from '../parse/locate.js';
import { remembered } from '../util/remembered.js';
import type { Place, Problems } from './problem.js';
import { suggestField } from './synonyms.js';

/**
 * Checks a value against the part of JSON Schema that the language's own schema uses, and words the problems in terms
 * of the language. Written by hand because a validator reports which rule failed, not what the person meant: the
 * nearest field, the one alternative that was tried, an example. Paths are lists that change on the way: most lead to
 * no problem.
 */
export function checkStructure(value: unknown, schema: TSchema, at: Place): boolean {
  if (Array.isArray(schema['anyOf'])) return checkUnion(value, schema, at);
  if ('const' in schema)
    return value === schema['const'] || wrongValue(at, schema, { words: [schema['const']], value });
  switch (schema['type']) {
    case 'object':
      return checkObject(value, schema, at);
    case 'array':
      return checkList(value, schema, at);
    case 'string':
      return checkText(value, schema, at);
    case 'number':
    case 'integer':
      return checkNumber(value, schema, at);
    case 'boolean':
      return typeof value === 'boolean' || wrongType(at, schema, { value });
    case 'null':
      return value === null || wrongType(at, schema, { value });
    default:
      return true;
  }
}

/** Whether the schema accepts anything: then the entries of a long list need no check. */
function takesAnything(schema: TSchema): boolean {
  return schema['type'] === undefined && !('const' in schema) && !Array.isArray(schema['anyOf']);
}

const regExp = remembered((pattern: string) => new RegExp(pattern));

/** How messages name a field: by its name, or by its place in a list. */
export function nameOf(path: Path, { subject }: Pick<Problems, 'subject'>): string {
  const last = path.at(-1);
  if (last === undefined) return subject;
  if (typeof last === 'string') return `"${last}"`;
  const list = path.at(-2);
  return `entry ${last + 1}${typeof list === 'string' ? ` of "${list}"` : ''}`;
}

function checkObject(value: unknown, schema: TSchema, at: Place): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return wrongType(at, schema, { value });
  }
  const { path, problems } = at;
  let good = true;
  const properties = (schema['properties'] ?? {}) as Record<string, TSchema>;
  const patterns = schema['patternProperties'] as Record<string, TSchema> | undefined;
  const inner = [...path, ''];
  const place = { path: inner, problems };
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    inner[path.length] = name;
    const known = Object.hasOwn(properties, name) ? properties[name] : patterns && patternProperty(patterns, name);
    if (known) good = checkStructure(member, known, place) && good;
    else if (schema['additionalProperties'] === false) good = unknownField(name, properties, place);
  }
  for (const name of (schema['required'] ?? []) as readonly string[]) {
    if (Object.hasOwn(value, name)) continue;
    good = problems.error(path, 'missing-field', {
      message: `${nameOf(path, problems)} needs "${name}"`,
      ...exampleHint(properties[name], name),
    });
  }
  return good;
}

function patternProperty(patterns: Record<string, TSchema>, name: string): TSchema | undefined {
  const pattern = Object.keys(patterns).find((each) => regExp(each).test(name));
  return pattern === undefined ? undefined : patterns[pattern];
}

function unknownField(name: string, properties: Record<string, TSchema>, { path, problems }: Place): false {
  return problems.error(path, 'unknown-field', {
    message: `${nameOf(path.slice(0, -1), problems)} has no field "${name.slice(0, 100)}"`,
    target: 'key',
    ...suggestField(name, Object.keys(properties)),
  });
}

function checkList(value: unknown, schema: TSchema, at: Place): boolean {
  if (!Array.isArray(value)) return wrongType(at, schema, { value });
  const { path, problems } = at;
  const { minItems, maxItems, items } = schema as { minItems?: number; maxItems?: number; items?: TSchema };
  if (minItems !== undefined && value.length < minItems) {
    const few = minItems === 1 ? 'one entry' : `${minItems} entries`;
    return problems.error(path, 'out-of-range', `${nameOf(path, problems)} needs at least ${few}`);
  }
  if (maxItems !== undefined && value.length > maxItems) {
    const message = `${nameOf(path, problems)} may have at most ${maxItems} entries, and has ${value.length}`;
    return problems.error(path, 'out-of-range', message);
  }
  if (!items || takesAnything(items)) return true;
  let good = true;
  const inner = [...path, 0];
  for (let index = 0; index < value.length; index++) {
    inner[path.length] = index;
    good = checkStructure(value[index], items, { path: inner, problems }) && good;
  }
  return good;
}

function checkText(value: unknown, schema: TSchema, at: Place): boolean {
  if (typeof value !== 'string') return wrongType(at, schema, { value, more: quotedHint(value, schema) });
  const { path, problems } = at;
  const { minLength, maxLength, pattern } = schema as { minLength?: number; maxLength?: number; pattern?: string };
  if (minLength !== undefined && value.length < minLength) {
    const message = `${nameOf(path, problems)} is empty`;
    return problems.error(path, 'out-of-range', { message, ...exampleHint(schema) });
  }
  if (maxLength !== undefined && value.length > maxLength) {
    return problems.error(path, 'out-of-range', `${nameOf(path, problems)} may have at most ${maxLength} characters`);
  }
  if (pattern === undefined || regExp(pattern).test(value)) return true;
  const message = `${nameOf(path, problems)} cannot be ${show(value)}`;
  return problems.error(path, 'bad-value', { message, ...exampleHint(schema) });
}

function checkNumber(value: unknown, schema: TSchema, at: Place): boolean {
  if (typeof value !== 'number' || (schema['type'] === 'integer' && !Number.isInteger(value))) {
    return wrongType(at, schema, { value });
  }
  const { path, problems } = at;
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (minimum !== undefined && value < minimum) {
    return problems.error(path, 'out-of-range', `${nameOf(path, problems)} has to be at least ${minimum}`);
  }
  if (maximum !== undefined && value > maximum) {
    return problems.error(path, 'out-of-range', `${nameOf(path, problems)} may be at most ${maximum}`);
  }
  return true;
}

function checkUnion(value: unknown, schema: TSchema, at: Place): boolean {
  const { words, ofKind } = unionOf(schema);
  if (words) return words.includes(value) || wrongValue(at, schema, { words, value });
  const fitting = ofKind(kindOf(value));
  if (fitting.length === 0) return wrongType(at, schema, { value });
  if (fitting.length === 1) return checkStructure(value, fitting[0]!, at);
  return checkTagged(value as Record<string, unknown>, fitting, at);
}

interface Union {
  /** Where each alternative is one word. */
  readonly words?: readonly unknown[];
  /** The alternatives that fit a value of this JSON type. */
  readonly ofKind: (kind: string) => readonly TSchema[];
}

const unions = new WeakMap<TSchema, Union>();

/** Computed once per schema: a flow may use each a thousand times. */
function unionOf(schema: TSchema): Union {
  let union = unions.get(schema);
  if (!union) {
    const options = schema['anyOf'] as readonly TSchema[];
    const words = options.map((option) => option['const'] as unknown);
    union = {
      ...(words.every((word) => typeof word === 'string') ? { words } : {}),
      ofKind: remembered((kind: string) => fittingOptions(schema, options, kind)),
    };
    unions.set(schema, union);
  }
  return union;
}

/** A single fitting option was meant; it gets the examples of the union, unless it has its own. */
function fittingOptions(schema: TSchema, options: readonly TSchema[], kind: string): readonly TSchema[] {
  const fitting = options.filter((option) => typeName(option) === kind || typeName(option) === 'anything');
  return fitting.length === 1 ? [{ examples: schema['examples'], ...fitting[0] } as TSchema] : fitting;
}

/** Objects that differ by their `type`. */
function checkTagged(value: Record<string, unknown>, options: readonly TSchema[], at: Place): boolean {
  const { path, problems } = at;
  const tags = options.map((option) => (option['properties'] as Record<string, TSchema>)['type']?.['const']);
  const chosen = options[tags.indexOf(value['type'])];
  if (chosen) return checkStructure(value, chosen, at);
  if (value['type'] === undefined) {
    const message = `${nameOf(path, problems)} needs "type"`;
    return problems.error(path, 'missing-field', { message, hint: `one of ${tags.join(', ')}` });
  }
  const place = { path: [...path, 'type'], problems };
  return wrongValue(place, {} as TSchema, { words: tags, value: value['type'] });
}

function wrongValue(
  at: Place,
  schema: TSchema,
  { words, value }: { readonly words: readonly unknown[]; readonly value: unknown },
): false {
  if (typeof value !== 'string') {
    return wrongType(at, isSwitch(schema) ? schema : ({ ...schema, type: 'string' } as TSchema), { value });
  }
  const { path, problems } = at;
  return problems.error(path, 'bad-value', {
    message: `${nameOf(path, problems)} cannot be ${show(value)}: it is one of ${words.join(', ')}`,
    suggest: { name: value, known: words as readonly string[] },
  });
}

/** `1` and `true` are not texts in YAML and JSON, but are often meant as texts. */
function quotedHint(value: unknown, schema: TSchema): { hint: string } | undefined {
  if (typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  const pattern = schema['pattern'] as string | undefined;
  if (pattern !== undefined && !regExp(pattern).test(String(value))) return undefined;
  return { hint: `put it in quotes: "${value}"` };
}

function wrongType(
  { path, problems }: Place,
  schema: TSchema,
  {
    value,
    more = exampleHint(schema),
  }: { readonly value: unknown; readonly more?: { readonly hint?: string } | undefined },
): false {
  const message = `${nameOf(path, problems)} has to be ${describe(schema)}, not ${describeValue(value)}`;
  const oneEntry = schema['type'] === 'array' && schema['items']?.type === 'string' && typeof value === 'string';
  return problems.error(path, 'wrong-type', { message, ...(oneEntry ? { hint: `write [${show(value)}]` } : more) });
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  text: 'a text',
  number: 'a number',
  boolean: 'true or false',
  list: 'a list',
  object: 'an object',
  nothing: 'null',
};

function describe(schema: TSchema): string {
  if (!Array.isArray(schema['anyOf'])) {
    if (isSwitch(schema)) return String(schema['const']);
    return schema['type'] === 'integer' ? 'a whole number' : wordFor(schema);
  }
  const words = new Set(
    (schema['anyOf'] as TSchema[]).map((option) => (isSwitch(option) ? String(option['const']) : wordFor(option))),
  );
  return [...words].join(' or ');
}

function isSwitch(schema: TSchema): boolean {
  return typeof schema['const'] === 'boolean';
}

function wordFor(schema: TSchema): string {
  return TYPE_WORDS[typeName(schema)] ?? 'something else';
}

function typeName(schema: TSchema): string {
  // Alternatives of one type: a list of words is a text.
  const [first, ...others] = ((schema['anyOf'] ?? []) as readonly TSchema[]).map(typeName);
  if (first !== undefined && others.every((name) => name === first)) return first;
  if ('const' in schema) return kindOf(schema['const']);
  const type = schema['type'] as string | undefined;
  if (type === undefined) return 'anything';
  return { string: 'text', integer: 'number', array: 'list', null: 'nothing' }[type] ?? type;
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'string' ? 'text' : typeof value;
}

function describeValue(value: unknown): string {
  const kind = kindOf(value);
  if (kind === 'nothing') return 'nothing (null)';
  return kind === 'boolean' ? String(value) : kind === 'number' ? `the number ${value}` : (TYPE_WORDS[kind] ?? kind);
}

export function show(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function exampleHint(schema: TSchema | undefined, name?: string): { hint?: string } {
  const example = (schema?.['examples'] as readonly unknown[] | undefined)?.[0];
  if (example === undefined) return {};
  const written = JSON.stringify(example);
  return { hint: name ? `for example: ${name}: ${written}` : `for example: ${written}` };
}
