import type { RunEvent, RunEventBody } from '../../model/event.js';
import type { TakenPhases } from '../../model/taken.js';
import { hostName } from '../../util/host-name.js';
import type { Project } from '../../util/project.js';
import { VERSION } from '../../util/version.js';
import { Ledger } from '../budget.js';
import { JOURNAL_VERSION, type RunLine } from '../journal/lines.js';
import { JournalWriter } from '../journal/writer.js';
import { pruneRuns } from '../prune-runs.js';
import { type RunResult, runResult, spentOf } from '../result.js';
import { journalOf, makeRunFolder, newRunId, pointAt } from '../runs-folder.js';
import type { Sheet } from './sheet.js';
import { TakenRecords } from './taken-records.js';

export interface RepeatOptions {
  readonly project: Project;
  /** It stands: see `standing`. */
  readonly sheet: Sheet;
  /** How the flow was named this time. */
  readonly ref: string;
  /** It only proves something: what is continued next is what would have been. */
  readonly frozen: boolean;
}

/** Where it is told. */
export interface Told {
  readonly onEvent: (event: RunEvent) => void;
  readonly onTaken: (phases: TakenPhases) => void;
}

/**
 * A run in which nothing has changed since the one before: it is told, written down and remembered like any other, and
 * nothing is computed.
 */
export function repeatRun(options: RepeatOptions, { onEvent, onTaken }: Told): RunResult {
  const { project } = options;
  const { clock } = project;
  const startedAt = clock.elapsed();
  const { head, outline, records } = options.sheet;
  const runId = newRunId(clock.now());
  const emit = (event: RunEventBody) => onEvent(Object.assign(event as RunEvent, { at: clock.now(), runId }));
  const warnings: string[] = [];
  const warn = (message: string) => {
    warnings.push(message);
    emit({ type: 'warning', message });
  };
  makeRunFolder(project, runId);
  const journal = new JournalWriter(journalOf(project, runId), 0, warn);
  journal.writeText(runLineText(options, runId, outline));
  if (!options.frozen) pointAt(project, runId, head.pointers);
  const flow = outlined(head.run.flow, outline);
  emit({
    type: 'run-start',
    flow: flow.name,
    file: head.run.file,
    get phases() {
      return flow.phases;
    },
  });

  const now = clock.now();
  records.rows.write(journal, now);
  const taken = new TakenRecords(records, runId, now);
  const ledger = new Ledger(undefined);
  ledger.save(records.rows.savedByAll());
  onTaken(taken);

  const durationMs = clock.elapsed() - startedAt;
  const { spent, saved } = ledger;
  journal.write({ type: 'end', at: clock.now(), status: 'success', durationMs: Math.round(durationMs), spent, saved });
  journal.close();
  emit({ type: 'run-end', status: 'success', spent: spentOf(ledger), saved, durationMs: Math.round(durationMs) });
  pruneRuns(project, journal.bytes);
  return runResult({
    runId,
    flow,
    get outcomes() {
      return taken.outcomes;
    },
    result: {
      status: 'success',
      output: records.output(head.result),
      reuse: { executed: 0, run: 0, crossRun: taken.count },
    },
    ledger,
    durationMs,
    warnings,
    mask: (value) => value,
  });
}

/** Its phases are read when somebody draws or prints all of them. */
function outlined(name: string, outline: string) {
  let phases: RunLine['phases'] | undefined;
  return {
    name,
    get phases() {
      phases ??= JSON.parse(outline) as RunLine['phases'];
      return phases;
    },
  };
}

function runLineText({ project, sheet, ref }: RepeatOptions, runId: string, outline: string): string {
  const line: Omit<RunLine, 'phases'> = {
    type: 'run',
    at: project.clock.now(),
    version: JOURNAL_VERSION,
    runId,
    mode: 'run',
    ...sheet.head.run,
    ref,
    taskflow: VERSION,
    // All of it is written in a moment: to tell whether it is under way, the process's number will do.
    owner: { host: hostName(), pid: process.pid },
  };
  return `${JSON.stringify(line).slice(0, -1)},"phases":${outline}}`;
}
