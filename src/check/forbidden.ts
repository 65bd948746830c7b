import { isJsonObject, type JsonValue } from '../model/json.js';
import { isForbiddenName } from '../model/names.js';
import type { Path } from '../parse/locate.js';
import { Problems } from './problem.js';

/**
 * Refused everywhere: names that reach into JavaScript's own objects, and numbers too large to be numbers (`1e999`).
 * Reports them, and returns the value without them. The parser bounds the nesting.
 */
export function withoutForbidden(value: JsonValue, problems: Problems): JsonValue {
  if (isHarmless(value)) return value;
  const found = new Problems();
  visit(value, [], found);
  if (!found.hasErrors) return value;
  for (const problem of found.list) problems.add(problem);
  return cleaned(value);
}

/** A copy without them, for the rest of the check. */
function cleaned(value: JsonValue): JsonValue {
  // Already reported: any number will do.
  if (typeof value === 'number') return Number.isFinite(value) ? value : 1;
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isJsonObject(value)) return value;
  const good = Object.entries(value).filter(([name]) => !isForbiddenName(name));
  return Object.fromEntries(good.map(([name, member]) => [name, cleaned(member)]));
}

/** Skips texts, which are most of a flow. */
function isHarmless(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || value === null;
}

/** `path` is one list that grows and shrinks on the way; only a problem takes a copy of it. */
function visit(value: unknown, path: (string | number)[], problems: Problems): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    problems.error([...path], 'bad-number', 'this number is too large');
  }
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      if (isHarmless(value[index])) continue;
      path.push(index);
      visit(value[index], path, problems);
      path.pop();
    }
    return;
  }
  for (const name of Object.keys(value)) {
    if (isForbiddenName(name)) {
      problems.error([...path, name], 'forbidden-name', { message: refusal(name), target: 'key' });
      continue;
    }
    const member = (value as Record<string, unknown>)[name];
    if (isHarmless(member)) continue;
    path.push(name);
    visit(member, path, problems);
    path.pop();
  }
}

/** For names that are values (an id, the name of a flow): the caller knows which texts are names. */
export function forbiddenName(path: Path, name: string, problems: Problems): void {
  problems.error(path, 'forbidden-name', refusal(name));
}

function refusal(name: string): string {
  return `"${name}" is not allowed as a name`;
}
