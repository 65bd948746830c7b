import { encodeIdentity } from '../../memo/identity.js';
import type { Phase } from '../../model/flow.js';
import { mayBeCrossRun } from '../../model/kind.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Travelling } from '../core/unit-job.js';
import type { Found } from './settle.js';

/** Larger texts are not put into a queue. */
const LARGEST_BODY = 1024 * 1024;

/** Why no unit of the phase is done on another machine, as far as the flow says it; undefined when they may be. */
export function whyPhaseStays({ kind, idempotent, cache, cwd, context }: Phase): string | undefined {
  if (!mayBeCrossRun(kind)) return `${kind === 'gate' ? 'a gate' : 'an approval'} is decided here`;
  if (kind === 'flow' || kind === 'expand') return 'the phases of the other flow go one by one';
  if (!idempotent) return 'it is not idempotent';
  if (cache.scope !== 'cross-run') return 'it is not kept across runs (cache: cross-run)';
  if (cwd === 'worktree' || cwd === 'dedicated') return `its folder is here (cwd: ${cwd})`;
  const here = cache.implied ? 'git:worktree' : cache.fingerprint.find((entry) => STAYS.test(entry));
  if (here !== undefined) return `its fingerprint ${here.replace(/^cmd:.*$/s, 'cmd:…')} is about this machine`;
  return context.some((entry) => entry.startsWith('{steps.')) ? 'its context is an output' : undefined;
}

/** Commands are not executed elsewhere for a fingerprint, and variables have values that do not travel. */
const STAYS = /^(?:git:worktree|env:|cmd:)/;

/** For a forecast: `; on a worker`, or why not. */
export function whereDone(at: PhaseContext, found: Found, travelling: Travelling): string {
  const why = whyStays(at, found, travelling);
  return why === undefined ? '; on a worker' : `; here: ${why}`;
}

/** Why this unit is done here; undefined when another machine may do it. */
export function whyStays(at: PhaseContext, found: Found, { body, cwd }: Travelling): string | undefined {
  const { phase, scope, policy, run } = at;
  const why = whyPhaseStays(phase);
  if (why !== undefined) return why;
  if (!policy.readStore || policy.scope !== 'cross-run') return `it runs anew (${policy.because ?? 'cache'})`;
  if (scope.kept) return 'it is part of a flow that is kept as a whole';
  if (cwd === 'worktree' || cwd === 'dedicated') return `its folder is here (cwd: ${cwd})`;
  if (phase.outputs.length > 0 && found.identity.outputs.length === 0) return '`outputs` does not say whose files';
  if (!body) return 'its input is a file of this machine';
  const sealed = run.reuse.sealedIdentity(found.identity, scope);
  if (sealed !== found.identity && encodeIdentity(sealed) !== encodeIdentity(found.identity)) return 'it has a secret';
  return JSON.stringify(body).length > LARGEST_BODY ? 'it is too large for the queue' : undefined;
}
