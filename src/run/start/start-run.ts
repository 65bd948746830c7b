import type { RunEvent, RunEventBody } from '../../model/event.js';
import type { Failure } from '../../model/failure.js';
import type { Flow } from '../../model/flow.js';
import { holderIdentity } from '../../process/process-identity.js';
import { VERSION } from '../../util/version.js';
import type { RunContext } from '../context/context.js';
import { type ContextParts, makeContext } from '../context/make-context.js';
import { carryLines, carryOver } from '../continue/carry.js';
import { decideContinuation } from '../continue/continuation.js';
import { importedCheckpoint } from '../continue/imported.js';
import { PriorResults } from '../continue/prior-results.js';
import type { RunOptions } from '../core/options.js';
import { type RunResult, runResult, spentOf } from '../core/result.js';
import { argumentsDigest, batchDigest } from '../core/run-group.js';
import { ownScope, type ScopeResult } from '../core/scope.js';
import { publicArgs } from '../core/secrets.js';
import { windDown } from '../execute/leftovers.js';
import { letTickPass, stampEnd, stampStart } from '../history/end-stamp.js';
import { startHeartbeat } from '../history/heartbeat.js';
import { pruneRuns } from '../history/prune-runs.js';
import { journalOf, lastRunId, makeRunFolder, newRunId, rememberLastRun } from '../history/runs-folder.js';
import { JOURNAL_VERSION, type RunLine } from '../journal/lines.js';
import { JournalWriter } from '../journal/writer.js';
import { runScope } from '../schedule/schedule.js';
import { scheduler } from '../schedule/scheduler.js';
import { stopsOf } from '../schedule/stops.js';

/** A run that cannot even begin: the named run does not exist, a budget cannot be held. */
export interface Refused {
  readonly refused: Failure;
}

export interface OpenRun {
  readonly context: RunContext;
  readonly warnings: readonly string[];
  readonly continues?: string;
  /** Writes the end; call it once, whatever happened. */
  end(result: Pick<ScopeResult, 'status' | 'failure' | 'partial'>): void;
  readonly startedAt: number;
  /** The journal's first. */
  readonly line: RunLine;
}

/** Runs a checked flow with bound arguments. Never throws; everything that can happen is in the result. */
export async function startRun(
  options: RunOptions,
  onEvent: (event: RunEvent) => void = () => {},
): Promise<RunResult | Refused> {
  const opened = await openRun(options, 'run', onEvent);
  if ('refused' in opened) return opened;
  const { context } = opened;
  const scope = ownScope(options, context.admission);
  const result = await runScope(context, scope, context.signal);
  await windDown(context);
  if (context.processes.started > 0) await letTickPass();
  opened.end(result);
  await context.tidyStore();
  return runResult({
    runId: context.runId,
    flow: options.flow,
    outcomes: scope.outcomes,
    result,
    ledger: context.ledger,
    durationMs: options.project.clock.elapsed() - opened.startedAt,
    continues: opened.continues,
    warnings: opened.warnings,
    secrets: context.secrets,
  });
}

/** The part that a single run and a batch have in common: id, journal, what is continued, the shared services. */
export async function openRun(
  options: RunOptions,
  mode: RunLine['mode'],
  onEvent: (event: RunEvent) => void,
): Promise<OpenRun | Refused> {
  const { project, flow } = options;
  const { clock } = project;
  const startedAt = clock.elapsed();
  const runId = newRunId(clock.now());
  const argsDigest = options.batch ? batchDigest(options.batch.over) : argumentsDigest(options);
  const flowId = flow.file ?? options.source.ref;
  const decision = decideContinuation(options, flowId, argsDigest, runId);
  if ('failure' in decision) return { refused: decision.failure };

  const imported = importedCheckpoint(options);
  if (imported && 'failure' in imported) return { refused: imported.failure };
  const warnings: string[] = [];
  // Every event is made for this call: completing it in place costs a fifth of copying it.
  const emit = (event: RunEventBody) => onEvent(Object.assign(event as RunEvent, { at: clock.now(), runId }));
  const warn = (message: string) => {
    if (warnings.includes(message)) return;
    warnings.push(message);
    emit({ type: 'warning', message });
  };
  makeRunFolder(project, runId);
  stampStart(project, runId);
  const journal = new JournalWriter(journalOf(project, runId), 0, warn);
  const endHeartbeat = startHeartbeat(project, runId);
  const line = runLine(options, { runId, mode, argsDigest, continues: imported?.runId ?? decision.previous?.runId });
  journal.write(line, 'held');
  const prior = imported
    ? carryLines(imported, journal, clock.now())
    : decision.previous
      ? await carryOver(project, decision.previous, { how: decision.how, journal, flowFiles: options.source.files })
      : new PriorResults('none', undefined, journal.path);
  journal.flush();
  const previousRun = lastRunId(project, flowId, options.batch ? argsDigest : undefined);
  // A partial run is a side path, and so is one that only proves something: the next run continues what they would have.
  const isWhole = isComplete(options) && options.frozen !== true;
  const parts: ContextParts = {
    options,
    scheduler,
    runId,
    journal,
    prior,
    emit,
    warn,
    flowId,
    argsDigest,
    previousRun,
  };
  const context = await makeContext(parts);
  if ('refused' in context) {
    journal.write({
      type: 'end',
      at: clock.now(),
      status: 'failed',
      durationMs: 0,
      spent: { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, usd: 0 },
      saved: { usd: 0, tokens: 0, ms: 0 },
      failure: context.refused,
    });
    journal.close();
    endHeartbeat();
    return context;
  }
  const before = lastRunId(project, flowId, argsDigest);
  // One that only finds what an earlier run has begun does nothing: that one is to be gone on with.
  const stops = mode === 'run' && stopsOf(context, ownScope(options, context.admission)).length > 0;
  if (isWhole && !stops) rememberLastRun(project, flowId, argsDigest, { runId, mode });
  const continued = await continues(parts, context, decision.notice);
  emit({
    type: 'run-start',
    flow: flow.name,
    file: flow.file,
    phases: outline(flow),
    rows: options.batch?.total,
    continues: continued?.told,
  });
  if (decision.notice !== undefined && !decision.previous) warn(decision.notice);
  for (const note of [...(imported?.notes ?? []), ...(continued?.notes ?? [])]) warn(note);
  return {
    context,
    warnings,
    continues: imported?.runId ?? decision.previous?.runId,
    startedAt,
    line,
    end: ({ status, failure, partial }) => {
      const durationMs = Math.round(clock.elapsed() - startedAt);
      const { spent, saved } = context.ledger;
      const told = failure && (context.secrets.maskValue(failure as never) as typeof failure);
      journal.write({ type: 'end', at: clock.now(), status, partial, durationMs, spent, saved, failure: told });
      if (status !== 'success') journal.sync();
      // Whole and good: what it did is finished, and the next run is a new one.
      if (status === 'success' && !partial && isComplete(options)) context.effects.close();
      // The same, found later: in a nested flow, an item or a row.
      const isAside = failure?.code === 'in-doubt' && prior.how === 'none' && before !== undefined;
      if (isAside && lastRunId(project, flowId, argsDigest) === runId) {
        rememberLastRun(project, flowId, argsDigest, { runId: before, mode });
      }
      stampEnd(project, runId, flow.file);
      journal.close();
      endHeartbeat();
      context.close();
      const error = told && { phase: told.phase, code: told.code, message: told.message, hint: told.hint };
      emit({ type: 'run-end', status, spent: spentOf(context.ledger), saved, durationMs, error });
      pruneRuns(project, journal.bytes);
    },
  };
}

/** All phases of the flow are meant. */
function isComplete({ selection }: RunOptions): boolean {
  return selection?.only === undefined && selection?.from === undefined;
}

/** So many results are looked at before the run begins; more of them would keep a person waiting for a number. */
const MOST_COUNTED = 300;

async function continues(parts: ContextParts, context: RunContext, notice: string | undefined) {
  const { options, prior } = parts;
  if (prior.runId === undefined) return undefined;
  const { phases } = options.flow;
  const facts = { runId: prior.runId, total: phases.length, notice };
  const done = { ...facts, reusable: phases.filter(({ id }) => prior.has(id)).length, known: 'done' as const };
  if (options.batch || prior.size > MOST_COUNTED) return { told: done };
  const { countReusable } = await import('../forecast/count-reusable.js');
  const found = await countReusable(parts, context.fingerprints);
  if (!found) return { told: done };
  const known = found.atLeast ? ('at-least' as const) : undefined;
  return {
    told: { ...facts, reusable: found.reusable, known },
    notes: prior.how === 'checkpoint' ? found.mismatched.map(mismatch) : undefined,
  };
}

function mismatch({ id, reason }: { readonly id: string; readonly reason: string }): string {
  return `${id} does not match the checkpoint: ${reason}`;
}

function runLine(
  { project, flow, source, args, batch }: RunOptions,
  facts: Pick<RunLine, 'runId' | 'mode' | 'argsDigest' | 'continues'>,
): RunLine {
  return {
    type: 'run',
    at: project.clock.now(),
    version: JOURNAL_VERSION,
    ...facts,
    flow: flow.name,
    file: flow.file,
    fileDigest: source.digest,
    ref: source.ref,
    byName: source.byName,
    over: batch?.over,
    rows: batch?.total,
    args: publicArgs(flow.args, args),
    phases: outline(flow),
    taskflow: VERSION,
    owner: holderIdentity(),
  };
}

function outline(flow: Flow): RunLine['phases'] {
  return flow.phases.map(({ id, kind, needs }) => ({ id, kind, needs: needs.map((edge) => edge.id) }));
}
