import { isForbiddenName } from '../model/names.js';
import type { Path } from '../parse/locate.js';
import type { Problems } from './problem.js';

/**
 * Refused wherever they stand: names that reach into JavaScript's own objects, and numbers too large to be numbers
 * (`1e999`). Nesting is bounded by the parser.
 */
export function checkForbiddenNames(value: unknown, problems: Problems): void {
  visit(value, [], problems);
}

function visit(value: unknown, path: Path, problems: Problems): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    problems.error(path, 'bad-number', 'this number is too large');
  }
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (typeof item === 'object' || typeof item === 'number') visit(item, [...path, index], problems);
    }
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    if (isForbiddenName(name)) {
      problems.error([...path, name], 'forbidden-name', `"${name}" is not allowed as a name`, { target: 'key' });
    } else if (typeof member === 'object' || typeof member === 'number') {
      visit(member, [...path, name], problems);
    }
  }
}
