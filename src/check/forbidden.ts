import { isForbiddenName } from '../model/names.js';
import type { Problems } from './problem.js';

/**
 * Refused wherever they stand: names that reach into JavaScript's own objects, and numbers too large to be numbers
 * (`1e999`). Nesting is bounded by the parser.
 */
export function checkForbiddenNames(value: unknown, problems: Problems): void {
  visit(value, [], problems);
}

/** `path` is one list that grows and shrinks on the way; only a problem takes a copy of it. */
function visit(value: unknown, path: (string | number)[], problems: Problems): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    problems.error([...path], 'bad-number', 'this number is too large');
  }
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      path.push(index);
      visit(value[index], path, problems);
      path.pop();
    }
    return;
  }
  for (const name of Object.keys(value)) {
    path.push(name);
    if (isForbiddenName(name)) {
      problems.error([...path], 'forbidden-name', `"${name}" is not allowed as a name`, { target: 'key' });
    } else {
      visit((value as Record<string, unknown>)[name], path, problems);
    }
    path.pop();
  }
}
