import { phasePath, type Scope } from './scope.js';

/**
 * Whether a person named this phase with `--rerun` or `--skip`: by its path (`review/check` is inside of a nested flow),
 * or, in the run's own flow and in the rows of a batch, by its id.
 */
export function isNamed(scope: Scope, id: string, names: readonly string[] = []): boolean {
  if (names.length === 0) return false;
  return names.includes(phasePath(scope, id)) || (scope.depth === 0 && names.includes(id));
}
