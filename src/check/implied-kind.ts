import type { Kind } from '../model/kind.js';
import type { Path } from '../parse/locate.js';
import type { Problems } from './problem.js';
import { synonymOf } from './synonyms.js';

/** Fields that only one kind is likely to have. */
const KIND_OF_FIELD: Readonly<Record<string, Kind>> = {
  over: 'map',
  run: 'script',
  branches: 'parallel',
  eval: 'gate',
  score: 'gate',
  until: 'loop',
  use: 'flow',
  def: 'flow',
  assemble: 'flow',
  variants: 'tournament',
};

/** The kind that this field implies. */
export function kindOfField(name: string): Kind | undefined {
  return Object.hasOwn(KIND_OF_FIELD, name) ? KIND_OF_FIELD[name] : undefined;
}

export interface Untyped {
  readonly id: string;
  readonly path: Path;
  readonly raw: Readonly<Record<string, unknown>>;
}

/** The kind that a phase without `type` is meant to have, by its fields. */
function impliedKind({ raw }: Pick<Untyped, 'raw'>): { readonly kind: Kind; readonly field: string } | undefined {
  for (const [name, kind] of Object.entries(KIND_OF_FIELD)) {
    const field = Object.keys(raw).find((key) => key === name || synonymOf(key, [name]) === name);
    if (field !== undefined) return { kind, field };
  }
  return undefined;
}

/**
 * The kind of a phase without a type and without a task: most often one with `run`. It is checked as the kind that it
 * was meant to be, so that one slip gives one problem.
 */
export function untypedKind(phase: Untyped, problems: Problems): Kind {
  const { raw, id, path } = phase;
  const isAgent = Object.keys(raw).some((key) => key === 'task' || synonymOf(key, ['task']) === 'task');
  const implied = isAgent ? undefined : impliedKind(phase);
  if (!implied) return 'agent';
  const { kind, field } = implied;
  // A synonym (`script`) is an unknown field, and reported as such.
  if (kindOfField(field)) {
    problems.error([...path, field], 'missing-field', {
      message: `"${id}" has "${field}": add type: ${kind}`,
      target: 'key',
    });
  }
  return kind;
}
