import type { Phase } from '../model/flow.js';
import { phasePath, type Scope } from './scope.js';

/**
 * Whether a person named this phase with `--rerun` or `--skip`: by its path (`review/check` is inside of a nested flow),
 * or, in the run's own flow and in the rows of a batch, by its id.
 */
export function isNamed(scope: Scope, id: string, names: readonly string[] = []): boolean {
  if (names.length === 0) return false;
  return names.includes(phasePath(scope, id)) || (scope.depth === 0 && names.includes(id));
}

/** What a person named inside of this scope, at any depth. */
export function namedInside({ path }: Scope, names: readonly string[] = []): string | undefined {
  return names.find((name) => name.startsWith(`${path}/`));
}

/**
 * Whether the phase is to run again although it is done. A side effect named by its id alone is not done again in all rows
 * of a batch: there `--rerun` is for the rows in which nobody knows whether it took place. A path means one row.
 */
export function isRerun(scope: Scope, { id, idempotent }: Phase, names: readonly string[] = []): boolean {
  if (!isNamed(scope, id, names)) return false;
  return idempotent || scope.path === '' || scope.depth > 0 || names.includes(phasePath(scope, id));
}
