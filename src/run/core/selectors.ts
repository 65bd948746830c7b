import type { Phase } from '../../model/flow.js';
import { phasePath, type Scope } from './scope.js';

/**
 * Whether `--rerun` or `--skip` names this phase: by its path (`review/check` is inside a nested flow) or, in the run's
 * own flow and in the rows of a batch, by its id.
 */
export function isNamed(scope: Scope, id: string, names: readonly string[] = []): boolean {
  if (names.length === 0) return false;
  return names.includes(phasePath(scope, id)) || (scope.depth === 0 && names.includes(id));
}

/** The first selector that names something inside this scope, at any depth. */
export function namedInside({ path }: Scope, names: readonly string[] = []): string | undefined {
  return names.find((name) => name.startsWith(`${path}/`));
}

/** The selector of an item, a branch or an iteration: `send[3]`, `post[mail]`. */
export function unitName(id: string, unit: string): string {
  return `${id}[${unit.replace(/^item /, '')}]`;
}

/** Whether a selector names this unit, by itself or with the whole phase. */
export function isUnitNamed(
  scope: Scope,
  { id, unit }: { readonly id: string; readonly unit: string | undefined },
  names: readonly string[] = [],
): boolean {
  return isNamed(scope, id, names) || (unit !== undefined && isNamed(scope, unitName(id, unit), names));
}

/** Selectors that name units which this phase does not have. */
export function unknownUnits(
  scope: Scope,
  { id, units }: { readonly id: string; readonly units: readonly string[] },
  names: readonly string[],
): readonly string[] {
  const path = phasePath(scope, id);
  const asked = names.filter((name) => name.endsWith(']') && [id, path].includes(name.slice(0, name.lastIndexOf('['))));
  if (asked.length === 0) return asked;
  const known = new Set(units.flatMap((unit) => [unitName(id, unit), unitName(path, unit)]));
  return asked.filter((name) => !known.has(name));
}

/**
 * Whether the phase runs again although it is done. An id alone does not repeat a side effect in all rows of a batch:
 * there `--rerun` is for the rows in which nobody knows whether it took place. A path means one row.
 */
export function isRerun(scope: Scope, { id, idempotent }: Phase, names: readonly string[] = []): boolean {
  if (!isNamed(scope, id, names)) return false;
  return idempotent || scope.path === '' || scope.depth > 0 || names.includes(phasePath(scope, id));
}
