import type { Flow } from '../../model/flow.js';
import type { PhaseOutcome } from './execution.js';
import type { Scope } from './scope.js';

/** A phase's outcome by the name that others use: its id, `grow-leaf` for the phase `leaf` of the graft `grow`. */
export function outcomeOf(scope: Scope, id: string): PhaseOutcome | undefined {
  return scope.outcomes.get(id) ?? scope.grafted.get(id) ?? scope.around?.get(id);
}

/** The phases of a fragment become phases of the flow that it grew in, under names that nothing else there has. */
export function graftInto(scope: Scope, id: string, fragment: Scope): void {
  for (const [name, outcome] of [...fragment.outcomes, ...fragment.grafted])
    scope.grafted.set(`${id}-${name}`, outcome);
}

/** A fragment grew there, and this is none of its phases. */
export function isNoneOfGraft({ flow, outcomes }: Scope, name: string): boolean {
  return flow.phases.some(
    (phase) => isGraft(phase) && name.startsWith(`${phase.id}-`) && outcomes.get(phase.id)?.status === 'done',
  );
}

/** Other phases read inside what grows here, so it has to be entered even if its result is known. */
export function isReadInside(flow: Flow, id: string): boolean {
  const ids = new Set(flow.phases.map((phase) => phase.id));
  const others = flow.phases.filter((phase) => phase.id !== id);
  const named = others.flatMap((phase) => [
    ...[...JSON.stringify(phase).matchAll(/\{steps\.([A-Za-z0-9_-]+)/g)].map((found) => found[1]!),
    ...(phase.kind === 'reduce' ? phase.from : []),
  ]);
  return named.some((name) => name.startsWith(`${id}-`) && !ids.has(name));
}

function isGraft(phase: Flow['phases'][number]): boolean {
  return phase.kind === 'expand' && phase.mode === 'graft';
}
