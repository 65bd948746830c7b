import type { ForecastWord } from '../../model/failure.js';
import type { Kind } from '../../model/kind.js';
import type { ItemCounts } from '../../model/outcome.js';
import { Admission } from '../core/admission.js';
import type { PhaseOutcome } from '../core/execution.js';
import type { RunOptions } from '../core/options.js';
import { runGroup } from '../core/run-group.js';
import { ownScope } from '../core/scope.js';
import { type LastCost, lastCosts } from '../history/last-costs.js';
import { type LastFailure, lastFailures } from '../history/last-failures.js';
import { lastRunId } from '../history/runs-folder.js';
import { runScope } from '../schedule/schedule.js';
import { type Selected, selectPhases } from '../schedule/selection.js';
import { openRun, type RunRefused } from '../start/open-run.js';
import { type ForecastIdentity, ForecastJournal } from './forecast-journal.js';

/** What a run would do, phase by phase, found by going through all of it without executing anything. */
export interface Forecast {
  readonly flow: string;
  readonly phases: readonly PhaseForecast[];
  readonly continues?: { readonly runId: string; readonly notice?: string };
  readonly warnings: readonly string[];
}

/** `shared`: another part of the run makes it. `unknown`: it depends on something that would run first. */
export type Would = 'reuse' | 'run' | 'shared' | 'skip' | 'unknown' | 'fail';

export function noCounts(): Record<Would, number> {
  return { run: 0, shared: 0, reuse: 0, unknown: 0, skip: 0, fail: 0 };
}

export interface PhaseForecast {
  readonly id: string;
  readonly kind: Kind;
  readonly would: Would;
  readonly from?: 'run' | 'cross-run';
  readonly ageMs?: number;
  readonly reason: string;
  readonly key?: string;
  readonly items?: ItemCounts;
  /** What it cost when it was last executed, where that is known. */
  readonly last?: LastCost;
  /** How it failed in the last run, if it did and is not reused now. */
  readonly failed?: LastFailure;
  /** What would be executed, and what decides it: for explaining. */
  readonly identities: readonly ForecastIdentity[];
}

export async function forecastRun(options: RunOptions): Promise<Forecast | RunRefused> {
  const { flow, project } = options;
  const journal = new ForecastJournal();
  const session = await openRun(options, { forecastInto: journal });
  if ('refused' in session) return session;
  const { context, continues, warnings } = session;
  const scope = ownScope(options, new Admission());
  session.end(await runScope(context, scope, context.limits.signal));
  await context.reuse.store?.settle?.();
  const lastRun = lastRunId(project, runGroup(options).flowId);
  const costs = lastCosts(project, lastRun);
  const failures = lastFailures(project, lastRun);
  const select = selectPhases(scope, options.selection);
  return {
    flow: flow.name,
    continues,
    warnings,
    phases: flow.phases.flatMap(({ id }) => {
      const outcome = scope.outcomes.get(id);
      if (!outcome) return [];
      const { kind, origin } = outcome;
      const { key, items } = outcome.result;
      const { ageMs, hit } = origin;
      const { would, reason } = forecastOf(outcome, select(id));
      const from = hit ?? undefined;
      const identities = journal.identitiesOf(id);
      const failed = would === 'reuse' ? undefined : failures.get(id);
      return [{ id, kind, would, from, ageMs, reason, key, items, last: costs.get(id), failed, identities }];
    }),
  };
}

/** Certain, whatever becomes of the phases before. */
const LEFT_OUT: Readonly<Partial<Record<Selected, string>>> = { leave: 'not selected', skip: '--skip' };

/** What the outcome of a phase in a dry run means. */
export function forecastOf(
  outcome: PhaseOutcome,
  selected: Selected,
): { readonly would: Would; readonly reason: string } {
  const { status, failure } = outcome;
  const { reason } = outcome.origin;
  const left = status === 'cancelled' ? LEFT_OUT[selected] : undefined;
  if (left !== undefined) return { would: 'skip', reason: left };
  const would = wouldOf(outcome);
  return { would, reason: would === 'fail' ? (failure?.message ?? reason) : reason };
}

const OF_WORD = {
  'would-run': 'run',
  'might-run': 'unknown',
  'would-be-shared': 'shared',
} as const satisfies Record<ForecastWord, Would>;

function wouldOf({ status, origin, failure, settled }: PhaseOutcome): Would {
  if (origin.hit !== null) return 'reuse';
  if (failure?.forecast !== undefined) return OF_WORD[failure.forecast];
  if (failure?.code === 'dependency') return 'skip';
  if (status === 'cancelled') return 'unknown';
  if (status === 'skipped' || settled.noWork) return 'skip';
  return status === 'failed' || status === 'blocked' ? 'fail' : 'run';
}
