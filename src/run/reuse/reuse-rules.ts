import type { PhaseContext } from '../context/phase-context.js';
import type { ResultLine } from '../journal/lines.js';

/**
 * Why a result of the run that is continued may not be taken although its key is unchanged; undefined when it may.
 * A resumed run is the same run and keeps everything; one that continues by itself is careful with what was decided
 * and with scripts whose inputs nobody declared.
 */
export function refusesEarlier(at: PhaseContext, line: ResultLine, ttlInside?: number): string | undefined {
  const { prior } = at.run;
  if (line.status !== 'done') return `it was ${line.status}`;
  if (prior.how !== 'auto') return undefined;
  const age = at.run.options.project.clock.now() - (line.madeAt ?? line.at);
  const ttlMs = Math.min(at.policy.ttlMs ?? Number.POSITIVE_INFINITY, ttlInside ?? Number.POSITIVE_INFINITY);
  if (age > ttlMs) return 'it is older than its ttl';
  if (line.deciding) return 'gates and approvals are decided anew in each run';
  const runsProcess = line.kind === 'script' || line.inputs?.['argv'] !== undefined || hasRunBranches(at, line);
  if (runsProcess && line.idempotent !== false && at.policy.fingerprint.length === 0 && prior.projectChanged()) {
    return 'files of the project changed since, and the script declares no fingerprint';
  }
  return undefined;
}

/** The result of a race or a tournament as a whole is one of its branches', and those may be scripts. */
function hasRunBranches({ phase }: PhaseContext, line: ResultLine): boolean {
  if (line.unit !== undefined || (phase.kind !== 'race' && phase.kind !== 'tournament')) return false;
  return phase.branches.some((branch) => branch.body.type === 'run');
}
