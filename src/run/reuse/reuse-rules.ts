import type { PhaseContext } from '../context/phase-context.js';
import type { ResultLine } from '../journal/lines.js';

/** What is known of the work besides its key. */
interface Considered {
  /** The shortest ttl of what is inside; it bounds the whole. */
  readonly ttlMs?: number;
  /** It cannot read files. */
  readonly closed?: true;
}

/**
 * Why a result of the run that is continued may not be reused although its key is unchanged; undefined when it may.
 * A result with declared inputs is found by its key alone. What any other has read is unknown: it is reused only if
 * nothing above it executed in this run and, where a run continues by itself, nothing that it looked at (or, where
 * nobody watched, nothing in the project) changed since.
 */
export function refusesEarlier(at: PhaseContext, line: ResultLine, work: Considered): string | undefined {
  const {
    options,
    reuse: { prior },
  } = at.run;
  if (line.status !== 'done') return `it was ${line.status}`;
  // A side effect stays done, whatever happened around it and however long ago.
  if (line.idempotent === false) return undefined;
  const isOpen = line.deciding === true || !declaresInputs(at);
  const newWork = at.newWork ?? line.outdatedBy;
  if (isOpen && newWork === at.path) return 'it ran again since';
  if (isOpen && newWork !== undefined) return `${newWork} ran again`;
  if (prior.how !== 'auto') return undefined;
  const age = options.project.clock.now() - (line.madeAt ?? line.at);
  if (age > Math.min(at.policy.ttlMs ?? age, work.ttlMs ?? age)) return 'it is older than its ttl';
  if (age > options.config.iteration.ttlMs) return 'it is older than iteration.ttl';
  if (line.deciding) return 'gates and approvals are decided anew in each run';
  if (!isOpen || work.closed) return undefined;
  // What it looked at is compared besides: see `changedSinceSeen`.
  const isSeen = line.seen?.set.complete && at.policy.observe.mode !== 'off';
  return prior.changed(line.validIn ?? prior.runId ?? '', isSeen ? 'unobserved' : 'everything');
}

/** An empty list of fingerprints is a declaration too: nothing outside matters. */
export function declaresInputs({ policy, phase }: PhaseContext): boolean {
  return policy.scope === 'cross-run' || phase.cache.named;
}
