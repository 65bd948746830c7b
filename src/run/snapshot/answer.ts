import { strongKey } from '../../memo/identity.js';
import type { RunEvent, RunEventBody } from '../../model/event.js';
import { NO_OUTPUT } from '../../model/outcome.js';
import { holderIdentity } from '../../process/process-identity.js';
import { IndexLog } from '../../store/index-log.js';
import type { Project } from '../../util/project.js';
import { Ledger } from '../core/budget.js';
import type { PhaseOutcome } from '../core/execution.js';
import { type RunResult, runResult, spentOf } from '../core/result.js';
import { Secrets } from '../core/secrets.js';
import { stampEnd, stampStart } from '../history/end-stamp.js';
import { rememberOwnRun } from '../history/own-runs.js';
import { pruneRuns } from '../history/prune-runs.js';
import { journalOf, makeRunFolder, newRunId, rememberLastRun } from '../history/runs-folder.js';
import { outcomeOf, type RecordSite, recordPhase, shownOutcome } from '../journal/record.js';
import { JournalWriter } from '../journal/writer.js';
import { fromStore } from '../reuse/settle.js';
import type { Snapshot, SnapshotPhase } from './snapshot.js';

interface Answering {
  readonly project: Project;
  readonly snapshot: Snapshot;
  /** The folder of its results: it is fresh. */
  readonly store: string;
  /** How the flow was named this time. */
  readonly ref: string;
}

/** Reports, journals and remembers a run in which nothing changed, like any other run. */
export function answerRun({ project, snapshot, store, ref }: Answering, onEvent: (event: RunEvent) => void): RunResult {
  const { clock } = project;
  const { run, phases } = snapshot;
  const startedAt = clock.elapsed();
  const runId = newRunId(clock.now());
  const warnings: string[] = [];
  const emit = (event: RunEventBody) => onEvent(Object.assign(event as RunEvent, { at: clock.now(), runId }));
  const warn = (message: string) => {
    warnings.push(message);
    emit({ type: 'warning', message });
  };
  makeRunFolder(project, runId);
  rememberOwnRun(project, runId);
  stampStart(project, runId);
  const journal = new JournalWriter(journalOf(project, runId), 0, warn);
  journal.write({ ...run, at: clock.now(), runId, ref, owner: holderIdentity() });
  rememberLastRun(project, { flowId: run.file ?? ref, argsDigest: run.argsDigest }, { runId, mode: 'run' });
  emit({ type: 'run-start', flow: run.flow, file: run.file, phases: run.phases, result: snapshot.result });

  const ledger = new Ledger(undefined);
  const secrets = new Secrets();
  const outcomes = new Map<string, PhaseOutcome>();
  const log = new IndexLog({ dir: store }, () => clock.now());
  for (const phase of phases) {
    const at: RecordSite = { run: { io: { journal, secrets }, options: { project } }, ...siteOf(phase) };
    const { key, seen } = phase.result;
    const settled = fromStore(phase.result, { runKey: key }, clock.now());
    recordPhase(at, settled);
    if (settled.saved) ledger.save(settled.saved);
    log.used(key);
    if (seen) log.used(strongKey(key, seen.value));
    const outcome = outcomeOf(at, settled);
    outcomes.set(phase.id, outcome);
    emit({ type: 'phase-end', phase: phase.id, outcome: shownOutcome(outcome, project.root) });
  }

  const durationMs = clock.elapsed() - startedAt;
  const { spent, saved } = ledger;
  journal.write({ type: 'end', at: clock.now(), status: 'success', durationMs: Math.round(durationMs), spent, saved });
  stampEnd(project, runId, run.file);
  journal.close();
  emit({ type: 'run-end', status: 'success', spent: spentOf(ledger), saved, durationMs: Math.round(durationMs) });
  pruneRuns(project, journal.bytes);
  log.flush();
  return runResult({
    runId,
    root: project.root,
    flow: { name: run.flow, phases: run.phases },
    outcomes,
    result: {
      status: 'success',
      output: outcomes.get(snapshot.result)?.result.output ?? NO_OUTPUT,
      reuse: { executed: 0, run: 0, crossRun: phases.length },
    },
    ledger,
    durationMs,
    warnings,
    secrets,
  });
}

/** What the engine knows of a phase that is plain: see `isPlainPhase`. */
function siteOf({ id, kind }: SnapshotPhase): Omit<RecordSite, 'run'> {
  return { path: id, phase: { id, kind, idempotent: true, optional: false }, policy: { scope: 'cross-run' } };
}
