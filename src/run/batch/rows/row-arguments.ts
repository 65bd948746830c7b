import type { ArgSpec } from '../../../model/flow.js';

const DEFAULT_ARGUMENT = 'topic';

/** The argument that a row stands for which is one bare value. Nobody has to name that of a flow that has only one. */
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
