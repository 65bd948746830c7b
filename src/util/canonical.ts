/**
 * The one canonical encoding: two values have the same text exactly when they are the same value.
 *
 * - Strings are JSON strings: quoted and escaped, so a value can never run into its neighbour, and unpaired surrogates
 *   stay apart (as UTF-8 they would all become U+FFFD).
 * - `1`, `"1"`, `true`, `null` and a missing value have different first characters; `-0`, `NaN` and the infinities have
 *   spellings of their own.
 * - Properties are sorted by UTF-16 unit. A property whose value is undefined is a property that is not there (JSON
 *   cannot say more); an undefined element of a list is `u`, since leaving it out would move its neighbours.
 */
export function canonicalEncode(value: unknown): string {
  return encode(value, 0);
}

/** Deeper values are encoded with a list of pending pieces instead of the stack, which outside data must not exhaust. */
const STACK_DEPTH = 200;

function encode(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return encodeScalar(value);
  if (depth === STACK_DEPTH) return encodeDeep(value);
  if (Array.isArray(value)) {
    let text = '[';
    for (let i = 0; i < value.length; i++) text += (i === 0 ? '' : ',') + encode(value[i], depth + 1);
    return `${text}]`;
  }
  const record = value as Record<string, unknown>;
  let text = '{';
  for (const name of sortedNames(record)) {
    const member = record[name];
    if (member === undefined) continue;
    text += `${(text.length === 1 ? '' : ',') + quotedName(name)}:${encode(member, depth + 1)}`;
  }
  return `${text}}`;
}

/** The same few names come a thousand times. */
const quotedNames = new Map<string, string>();
const MOST_NAMES = 500;

function quotedName(name: string): string {
  const known = quotedNames.get(name);
  if (known !== undefined) return known;
  const quoted = JSON.stringify(name);
  if (quotedNames.size < MOST_NAMES) quotedNames.set(name, quoted);
  return quoted;
}

/** Most records are written in order already, and looking is cheaper than sorting. */
function sortedNames(record: object): string[] {
  const names = Object.keys(record);
  for (let i = 1; i < names.length; i++) if (names[i - 1]! > names[i]!) return names.sort();
  return names;
}

function encodeScalar(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'undefined':
      return 'u';
    case 'object':
      return 'null';
    default:
      throw new TypeError(`A ${typeof value} has no canonical encoding`);
  }
}

function encodeDeep(root: object): string {
  const pieces: string[] = [];
  const pending: ({ text: string } | { value: unknown })[] = [{ value: root }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ('text' in next) {
      pieces.push(next.text);
    } else if (typeof next.value !== 'object' || next.value === null) {
      pieces.push(encodeScalar(next.value));
    } else {
      const parts = partsOf(next.value);
      for (let i = parts.length - 1; i >= 0; i--) pending.push(parts[i]!);
    }
  }
  return pieces.join('');
}

function partsOf(value: object): ({ text: string } | { value: unknown })[] {
  const list = Array.isArray(value);
  const parts: ({ text: string } | { value: unknown })[] = [{ text: list ? '[' : '{' }];
  const names = list ? value.keys() : sortedNames(value);
  for (const name of names) {
    const member = (value as Record<string | number, unknown>)[name];
    if (!list && member === undefined) continue;
    const comma = parts.length === 1 ? '' : ',';
    parts.push({ text: list ? comma : `${comma}${JSON.stringify(name)}:` }, { value: member });
  }
  parts.push({ text: list ? ']' : '}' });
  return parts;
}
