import type { JsonValue } from '../model/json.js';

/** Limit for one answer in the client's context window, in characters. */
export const MOST_CHARACTERS = 20_000;

interface Bounds {
  readonly text: number;
  readonly members: number;
}

const STEPS: readonly Bounds[] = [
  { text: 8_000, members: Number.POSITIVE_INFINITY },
  { text: 2_000, members: 200 },
  { text: 500, members: 50 },
  { text: 200, members: 20 },
  { text: 80, members: 8 },
];

/** The value, with texts and lists shortened only as far as it takes to fit. */
export function cut(value: JsonValue): JsonValue {
  for (const bounds of STEPS) {
    const smaller = within(value, bounds);
    if (JSON.stringify(smaller).length <= MOST_CHARACTERS) return smaller;
  }
  return within(value, { text: 40, members: 3 });
}

function within(value: JsonValue, bounds: Bounds): JsonValue {
  if (typeof value === 'string') return cutText(value, bounds.text);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.slice(0, bounds.members).map((item) => within(item, bounds));
  // Our own answers have few fields: only fields with the user's names can be too many.
  const fields = Object.entries(value).slice(0, Math.max(bounds.members, 30));
  return Object.fromEntries(fields.map(([name, field]) => [name, within(field, bounds)]));
}

export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}… (${text.length.toLocaleString('en')} characters)`;
}
