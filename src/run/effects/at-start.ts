import type { Failure } from '../../model/failure.js';
import type { PhaseContext } from '../context/phase-context.js';
import { isNamed } from '../core/selectors.js';
import { doneElsewhere, underWay } from './doubt.js';
import { unreadable } from './rule.js';

/** Something of this phase has begun, in this run's past or in another run: skipped, it is kept as done. */
export function hasBegun({ run, path, phase, scope }: PhaseContext): boolean {
  if (phase.idempotent && scope.idempotent !== false) return false;
  const name = run.reuse.effects.nameOf(path, undefined);
  const held = run.reuse.effects.held(name);
  if (held && 'problem' in held) return false;
  return held !== undefined || run.reuse.effects.holdsOf(name) || run.reuse.prior.hasActed(path);
}

/**
 * Why a run that starts afresh will stop at this side effect, known before anything is spent. A run that continues
 * another one goes as far as it can: it may reuse what is done.
 */
export function stopsAtStart({ run, phase, scope, path }: PhaseContext): Failure | undefined {
  const {
    options,
    reuse: { prior, effects },
  } = run;
  if (phase.idempotent || phase.when !== undefined || scope.depth > 0) return undefined;
  const { rerun = [], skip = [] } = options.selection ?? {};
  if (prior.how !== 'none' || isNamed(scope, phase.id, [...rerun, ...skip])) return undefined;
  const held = effects.held(effects.nameOf(path, undefined));
  if (!held) return undefined;
  if ('problem' in held) return unreadable(held.problem);
  const at = { path, fresh: true };
  return held.state === 'open' ? underWay(at, held) : doneElsewhere(at, held);
}
