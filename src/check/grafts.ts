import type { PhaseSource } from './context.js';

/** A phase of a graft, as the flow around it names it: `grow-leaf` is the phase `leaf` that `grow` brings in. */
interface GraftedName {
  /** The phase that grows. */
  readonly grows: string;
  /** Every name that it brings in; undefined when the fragment is made at run time. */
  readonly known?: readonly string[];
}

/** The graft that a name belongs to, by its prefix; of several the one with the longest id. */
export function graftedName(name: string, phases: ReadonlyMap<string, PhaseSource>): GraftedName | undefined {
  let grows: PhaseSource | undefined;
  for (const phase of phases.values()) {
    const fits = isGraft(phase) && name.startsWith(`${phase.id}-`) && name.length > phase.id.length + 1;
    if (fits && phase.id.length > (grows?.id.length ?? 0)) grows = phase;
  }
  if (!grows) return undefined;
  const { id } = grows;
  const inside = writtenIds(grows.raw['def']);
  return { grows: id, ...(inside && { known: inside.map((inner) => `${id}-${inner}`) }) };
}

function isGraft({ kind, raw }: PhaseSource): boolean {
  return kind === 'expand' && raw['expandMode'] === 'graft';
}

function writtenIds(def: unknown): readonly string[] | undefined {
  const phases = Array.isArray(def) ? def : (def as { readonly phases?: unknown } | undefined)?.phases;
  if (typeof def === 'string' || !Array.isArray(phases)) return undefined;
  return phases.flatMap((phase: unknown) => (phase as { readonly id?: string } | null)?.id ?? []);
}
