/** The closed list of phase kinds, in the order in which documentation shows them. */
export const KINDS = [
  'agent',
  'script',
  'parallel',
  'map',
  'reduce',
  'gate',
  'approval',
  'flow',
  'loop',
  'tournament',
  'race',
  'expand',
] as const;

export type Kind = (typeof KINDS)[number];

/**
 * The one list of kinds whose result decides whether work goes on. They are never reused across runs, and neither is
 * anything that contains one: a decision of a person or a judge is about this run.
 */
const DECIDING_KINDS: ReadonlySet<Kind> = new Set<Kind>(['gate', 'approval']);

export function mayBeCrossRun(kind: Kind): boolean {
  return !DECIDING_KINDS.has(kind);
}
