import type { ArgSpec } from '../../../model/flow.js';

const DEFAULT_ARGUMENT = 'topic';

/** The argument that a bare value is for: the only one of the flow, else `topic`. */
export function bareArgument(specs: Readonly<Record<string, ArgSpec>>): string {
  const names = Object.keys(specs);
  return names.length === 1 ? names[0]! : DEFAULT_ARGUMENT;
}

/** Arguments for all rows need not be all: the rows bring the others. */
export function commonSpecs(specs: Readonly<Record<string, ArgSpec>>): Record<string, ArgSpec> {
  return Object.fromEntries(
    Object.entries(specs).map(([name, { default: _, ...spec }]) => [name, { ...spec, required: false }]),
  );
}
