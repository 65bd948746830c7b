/**
 * The one canonical encoding: two values have the same text exactly when they are the same value.
 *
 * - Strings are JSON strings: quoted and escaped, so a value never runs into its neighbour, and unpaired surrogates
 *   stay apart (as UTF-8 they would all become U+FFFD).
 * - `1`, `"1"`, `true`, `null` and a missing value have different first characters; `-0`, `NaN` and the infinities have
 *   spellings of their own.
 * - Properties are sorted by UTF-16 unit. A property whose value is undefined is a property that is not there (JSON
 *   cannot say more); an undefined element of a list is `u`, since leaving it out would move its neighbours.
 */
export function canonicalEncode(value: unknown): string {
  return encode(value, 0);
}

/** Deeper values use a list of pending pieces instead of the stack, which data from outside must not exhaust. */
const STACK_DEPTH = 200;

function encode(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return encodeScalar(value);
  if (depth === STACK_DEPTH) return encodeDeep(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const element of value) text += `${text === '' ? '' : ','}${encode(element, depth + 1)}`;
    return `[${text}]`;
  }
  const record = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(record).sort()) {
    const member = record[name];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${encode(member, depth + 1)}`;
  }
  return `{${text}}`;
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

type Piece = { readonly text: string } | { readonly value: unknown };

function encodeDeep(root: object): string {
  const texts: string[] = [];
  const pending: Piece[] = [{ value: root }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ('text' in next) texts.push(next.text);
    else if (typeof next.value !== 'object' || next.value === null) texts.push(encodeScalar(next.value));
    else for (const piece of piecesOf(next.value).reverse()) pending.push(piece);
  }
  return texts.join('');
}

function piecesOf(value: object): Piece[] {
  if (Array.isArray(value)) {
    const elements = Array.from(value, (element, index) => [{ text: index === 0 ? '' : ',' }, { value: element }]);
    return [{ text: '[' }, ...elements.flat(), { text: ']' }];
  }
  const record = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(record)
    .filter((name) => record[name] !== undefined)
    .sort();
  const members = names.map((name, index) => [
    { text: `${index === 0 ? '' : ','}${JSON.stringify(name)}:` },
    { value: record[name] },
  ]);
  return [{ text: '{' }, ...members.flat(), { text: '}' }];
}
