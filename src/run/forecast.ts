import { devNull } from 'node:os';
import type { Failure } from '../model/failure.js';
import type { Kind } from '../model/kind.js';
import type { ItemCounts, PhaseOutcome } from '../model/outcome.js';
import { canonicalEncode } from '../util/canonical.js';
import { sha256Hex } from '../util/digest.js';
import { Admission } from './admission.js';
import { isResult, linesToCarry } from './carry.js';
import { changedSince } from './changed-since.js';
import { decideContinuation } from './continuation.js';
import { endOnFileClock } from './end-stamp.js';
import { type ForecastIdentity, ForecastJournal } from './forecast-journal.js';
import { readLines } from './journal/reader.js';
import type { LinePlace } from './journal/writer.js';
import { makeContext } from './make-context.js';
import type { RunOptions } from './options.js';
import { PriorResults } from './prior-results.js';
import type { RunHead } from './run-state.js';
import { journalOf, lastRunId } from './runs-folder.js';
import { runScope } from './schedule.js';
import { ownScope } from './scope.js';
import { publicArgs } from './secrets.js';
import { mightRun } from './settle.js';

/** What a run would do, phase by phase, found by going through all of it without executing anything. */
export interface Forecast {
  readonly flow: string;
  readonly phases: readonly PhaseForecast[];
  readonly continues?: { readonly runId: string; readonly notice?: string };
  readonly warnings: readonly string[];
}

export interface PhaseForecast {
  readonly id: string;
  readonly kind: Kind;
  /** `unknown`: it depends on something that would run first. */
  readonly would: 'reuse' | 'run' | 'skip' | 'unknown' | 'fail';
  readonly from?: 'run' | 'cross-run';
  readonly ageMs?: number;
  readonly reason: string;
  readonly key?: string;
  readonly items?: ItemCounts;
  /** What it cost when it was last executed, where that is known. */
  readonly last?: { readonly usd?: number; readonly tokens: number; readonly ms: number };
  /** What would be executed, and what decides it: for explaining. */
  readonly identities: readonly ForecastIdentity[];
}

export async function forecastRun(given: RunOptions): Promise<Forecast | { readonly refused: Failure }> {
  const options: RunOptions = { ...given, forecast: true };
  const { flow } = options;
  const argsDigest = sha256Hex(canonicalEncode(publicArgs(flow.args, options.args)));
  const flowId = flow.file ?? options.source.ref;
  const decision = decideContinuation(options, flowId, argsDigest, undefined);
  if ('failure' in decision) return { refused: decision.failure };
  const prior = decision.previous
    ? lookInto(options, decision.previous, decision.how)
    : new PriorResults('none', undefined, devNull);
  const warnings: string[] = [];
  const journal = new ForecastJournal();
  const context = await makeContext({
    options,
    runId: '00000000-000000-000000',
    journal,
    prior,
    emit: (event) => {
      if (event.type === 'warning' && !warnings.includes(event.message)) warnings.push(event.message);
    },
    warn: (message) => warnings.push(message),
    flowId,
    previousRun: lastRunId(options.project, flowId),
  });
  if ('refused' in context) return context;
  const scope = ownScope(options, new Admission());
  await runScope(context, scope, context.signal);
  context.close();
  const costs = lastCosts(options, flowId);
  return {
    flow: flow.name,
    continues: decision.previous && { runId: decision.previous.runId, notice: decision.notice },
    warnings,
    phases: flow.phases.flatMap(({ id }) => {
      const outcome = scope.outcomes.get(id);
      if (!outcome) return [];
      const { kind, ageMs, key, items, cacheHit } = outcome;
      const would = wouldOf(outcome);
      return [
        {
          id,
          kind,
          would,
          from: cacheHit ?? undefined,
          ageMs,
          reason: reasonOf(would, outcome),
          key,
          items,
          last: costs.get(id),
          identities: journal.identitiesOf(id),
        },
      ];
    }),
  };
}

function wouldOf({ status, cacheHit, failure, taken }: PhaseOutcome): PhaseForecast['would'] {
  if (cacheHit !== null) return 'reuse';
  if (mightRun(failure)) return 'unknown';
  if (failure?.code === 'forecast' || status === 'paused') return 'run';
  if (status === 'cancelled') return 'unknown';
  if (status === 'skipped' || taken) return 'skip';
  return status === 'failed' || status === 'blocked' ? 'fail' : 'run';
}

function reasonOf(would: PhaseForecast['would'], { reason, failure }: { reason: string; failure?: Failure }): string {
  if (would === 'unknown') return reason.replace(/ did not run$/, ' would run first');
  return would === 'fail' ? (failure?.message ?? reason) : reason;
}

/** Results of the run that would be continued, read where they are. */
function lookInto(options: RunOptions, previous: RunHead, how: 'auto' | 'resume'): PriorResults {
  const { project } = options;
  const path = journalOf(project, previous.runId);
  const { file } = previous.run;
  const prior = new PriorResults(how, previous.runId, path, () =>
    changedSince(project, endOnFileClock(project, previous), file === undefined ? [] : [file]),
  );
  let place: LinePlace = { offset: 0, length: 0 };
  const lines = function* () {
    for (const { line, ...at } of readLines(path)) {
      place = at;
      yield line;
    }
  };
  // As they would be carried over: each as it was made, and not as it was reused since.
  for (const line of linesToCarry(lines(), prior)) if (isResult(line)) prior.keep(line, place);
  return prior;
}

function lastCosts({ project }: RunOptions, flowId: string): Map<string, NonNullable<PhaseForecast['last']>> {
  const costs = new Map<string, NonNullable<PhaseForecast['last']>>();
  const runId = lastRunId(project, flowId);
  if (runId === undefined) return costs;
  for (const { line } of readLines(journalOf(project, runId))) {
    if (line.type !== 'phase' || line.status !== 'done') continue;
    const { usage, durationMs } = line.cost ?? line;
    costs.set(line.phase, {
      usd: usage.usd,
      tokens: usage.inputTokens + usage.cachedInputTokens + usage.outputTokens,
      ms: durationMs,
    });
  }
  return costs;
}
