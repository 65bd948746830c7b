import type { RunEventBody } from '../../model/event.js';
import type { Failure } from '../../model/failure.js';
import { NO_SAVINGS, NO_USAGE } from '../../model/outcome.js';
import type { RunContext } from '../context/context.js';
import { carryLines, carryOver } from '../continue/carry.js';
import { PriorResults } from '../continue/prior-results.js';
import type { RunOptions } from '../core/options.js';
import { spentOf } from '../core/result.js';
import type { RunGroup } from '../core/run-group.js';
import { ownScope } from '../core/scope.js';
import { stampEnd, stampStart } from '../history/end-stamp.js';
import { startHeartbeat } from '../history/heartbeat.js';
import { rememberOwnRun } from '../history/own-runs.js';
import { pruneRuns } from '../history/prune-runs.js';
import { journalOf, lastRunId, makeRunFolder, rememberLastRun, runBytes } from '../history/runs-folder.js';
import { JournalWriter } from '../journal/writer.js';
import { stopsOf } from '../schedule/stops.js';
import type { Continued, Recording, RunEnd } from './recording.js';
import { runLine } from './run-line.js';

interface RunToRecord {
  readonly options: RunOptions;
  readonly runId: string;
  readonly group: RunGroup;
  readonly continued: Continued;
  readonly emit: (event: RunEventBody) => void;
  readonly warn: (message: string) => void;
}

/** Makes the run's folder and begins its journal. */
export class RunRecording implements Recording {
  readonly journal: JournalWriter;
  readonly #endHeartbeat: () => void;
  /** The last run of this group before this one. */
  #before: string | undefined;

  constructor(private readonly run: RunToRecord) {
    const { options, runId, group, continued, warn } = run;
    const { project } = options;
    makeRunFolder(project, runId);
    rememberOwnRun(project, runId);
    stampStart(project, runId);
    this.journal = new JournalWriter(journalOf(project, runId), 0, warn);
    this.#endHeartbeat = startHeartbeat(project, runId);
    const continues = continued.imported?.runId ?? continued.decision.previous?.runId;
    this.journal.write(runLine(options, { runId, argsDigest: group.argsDigest, continues }), 'held');
  }

  async prior(): Promise<PriorResults> {
    const { journal } = this;
    const { options, continued } = this.run;
    const { decision, imported } = continued;
    const { project, source } = options;
    const prior = imported
      ? carryLines(imported, journal, project.clock.now())
      : decision.previous
        ? await carryOver(project, decision.previous, { how: decision.how, journal, flowFiles: source.files })
        : new PriorResults({ how: 'none', journal: journal.path });
    journal.flush();
    return prior;
  }

  refuse(failure: Failure): void {
    const at = this.run.options.project.clock.now();
    const nothing = { durationMs: 0, spent: NO_USAGE, saved: NO_SAVINGS };
    this.journal.write({ type: 'end', at, status: 'failed', ...nothing, failure });
    this.#close();
  }

  begin(context: RunContext): void {
    const { options, runId, group } = this.run;
    this.#before = lastRunId(options.project, group.flowId, group.argsDigest);
    // A run that only finds what an earlier run has begun does nothing: the earlier one is to be continued.
    const isStopped = !options.batch && stopsOf(context, ownScope(options, context.limits.admission)).length > 0;
    // The next run does not continue a partial run, nor one that only proves something.
    if (isComplete(options) && options.frozen !== true && !isStopped) this.#remember(runId);
  }

  end(context: RunContext, { status, failure, partial, durationMs }: RunEnd): void {
    const { journal } = this;
    const { options, runId, emit } = this.run;
    const { project, flow } = options;
    const { spent, saved } = context.limits.ledger;
    const masked = failure && (context.io.secrets.maskValue(failure as never) as typeof failure);
    // The whole flow succeeded: its side effects are finished, and the next run does them anew. Before the end: a run
    // that is killed in between is continued and has them done, while one with an end would be doubted for no reason.
    if (status === 'success' && !partial && isComplete(options)) context.reuse.effects.close();
    journal.write({ type: 'end', at: project.clock.now(), status, partial, durationMs, spent, saved, failure: masked });
    if (status !== 'success') journal.sync();
    this.#stepBack(context, failure);
    stampEnd(project, runId, flow.file);
    this.#close();
    context.close();
    const error = masked && { phase: masked.phase, code: masked.code, message: masked.message, hint: masked.hint };
    const lost = journal.broken === undefined ? {} : ({ unrecorded: true } as const);
    emit({ type: 'run-end', status, spent: spentOf(context.limits.ledger), saved, durationMs, error, ...lost });
    pruneRuns(project, runBytes(project, runId));
  }

  /** As in `begin`, but found while running, in a nested flow, an item or a row: remembers the earlier run again. */
  #stepBack({ reuse: { prior } }: RunContext, failure: RunEnd['failure']): void {
    const { options, runId, group } = this.run;
    if (failure?.code !== 'in-doubt' || prior.how !== 'none' || this.#before === undefined) return;
    if (lastRunId(options.project, group.flowId, group.argsDigest) === runId) this.#remember(this.#before);
  }

  #remember(runId: string): void {
    const { options, group } = this.run;
    rememberLastRun(options.project, group, { runId, mode: options.batch ? 'batch' : 'run' });
  }

  #close(): void {
    this.journal.close();
    this.#endHeartbeat();
  }
}

/** All phases of the flow are wanted. */
function isComplete({ selection }: RunOptions): boolean {
  return selection?.only === undefined && selection?.from === undefined;
}
