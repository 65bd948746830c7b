import type { Resolution } from '../../memo/fingerprint/source.js';
import type { PhaseContext } from '../context/phase-context.js';

type Found = Exclude<Resolution, { readonly failed: string }>;

export function hasWarning({ warning, matchesNothing }: Found): boolean {
  return warning !== undefined || matchesNothing === true;
}

/** Warns about a fingerprint that has a value but looks wrong. The run gives each warning once. */
export async function warnOf(
  { run, scope }: Pick<PhaseContext, 'run' | 'scope'>,
  entry: string,
  { warning, matchesNothing }: Found,
): Promise<void> {
  if (warning !== undefined) run.io.warn(`${entry}: ${warning}`);
  if (!matchesNothing) return;
  const { describeUnmatched } = await import('../../memo/fingerprint/unmatched.js');
  const outputs = scope.flow.phases.flatMap((phase) => phase.outputs);
  const unmatched = await describeUnmatched(entry, { root: run.options.project.root, outputs });
  if (unmatched) run.io.warn(`${unmatched.message}; ${unmatched.hint}`);
}
