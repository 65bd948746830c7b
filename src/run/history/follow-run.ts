import { type FSWatcher, watch } from 'node:fs';
import type { RunEvent, RunEventBody } from '../../model/event.js';
import { spentOn } from '../../model/outcome.js';
import type { Project } from '../../util/project.js';
import { delay } from '../../util/timer.js';
import type { JournalLine } from '../journal/lines.js';
import { readLines } from '../journal/reader.js';
import { recordedOutcome } from './recorded-outcome.js';
import { runHead } from './run-head.js';
import { journalOf } from './runs-folder.js';

/** A change of the journal is reported at once; this is for folders that report none, and for owners that die. */
const LOOK_AGAIN_MS = 500;

/**
 * What a run has said and says, from its journal: whoever executes it, in whatever process. Ends with the run, or when
 * nobody executes it any more.
 */
export async function* followRun(
  project: Project,
  runId: string,
  { wait, signal }: { readonly wait: boolean; readonly signal?: AbortSignal },
): AsyncGenerator<RunEvent> {
  const path = journalOf(project, runId);
  const reader = new EventReader(project.root);
  let from = 0;
  for (;;) {
    // Asked before the lines are read: what it wrote before it died is read too.
    const isRunning = runHead(project, runId)?.state === 'running';
    for (const { line, offset, length } of readLines(path, from)) {
      from = offset + length;
      const event = reader.read(line);
      if (event) yield Object.assign(event as RunEvent, { at: line.at, runId });
      if (line.type === 'end') return;
    }
    if (!isRunning || !wait || signal?.aborted) return;
    await journalChanged(path, signal);
  }
}

class EventReader {
  readonly #started = new Set<string>();
  #carrying = false;

  constructor(private readonly root: string) {}

  /** The event that a line stands for; most lines of units stand for none. */
  read(line: JournalLine): RunEventBody | undefined {
    if (line.type === 'carried-begin') this.#carrying = true;
    if (line.type === 'carried-end') this.#carrying = false;
    if (this.#carrying) return undefined;
    switch (line.type) {
      case 'run':
        return { type: 'run-start', flow: line.flow, file: line.file, phases: line.phases, rows: line.rows };
      case 'start':
        if (this.#started.has(line.phase)) return undefined;
        this.#started.add(line.phase);
        return { type: 'phase-start', phase: line.phase, reason: line.reason };
      case 'attempt': {
        if (line.retryInMs === undefined) return undefined;
        const { phase, unit, attempt, retryInMs: delayMs, failure } = line;
        return { type: 'retry', phase, unit, attempt, delayMs, error: failure.message };
      }
      case 'phase':
        return { type: 'phase-end', phase: line.phase, outcome: recordedOutcome(line, this.root) };
      case 'ask':
        return { type: 'approval', phase: line.phase, text: line.text, digest: line.digest };
      case 'limit': {
        const { phase, runner, until, known, waits, error } = line;
        return { type: 'limit', phase, runner, until, known, waits, error };
      }
      case 'warning':
        return { type: 'warning', phase: line.phase, message: line.message };
      case 'row': {
        const { row, label, path, status, saved, durationMs, reuse, file, failure: error, usage } = line;
        const spent = spentOn(usage);
        return { type: 'row-end', row, label, path, status, spent, saved, durationMs, reuse, file, error };
      }
      case 'end': {
        const { status, saved, durationMs, failure: error, spent } = line;
        return { type: 'run-end', status, spent: spentOn(spent), saved, durationMs, error };
      }
      default:
        return undefined;
    }
  }
}

/** Returns when the file has changed, after a while, or when the signal says so. */
export async function journalChanged(path: string, signal?: AbortSignal): Promise<void> {
  let watcher: FSWatcher | undefined;
  let stop = () => {};
  const news = new Promise<void>((resolve) => {
    stop = resolve;
    try {
      watcher = watch(path, () => resolve()).on('error', () => resolve());
    } catch {
      // Removed meanwhile, or a system without watchers: the delay has to do.
    }
  });
  signal?.addEventListener('abort', stop, { once: true });
  await Promise.race([news, delay(LOOK_AGAIN_MS)]);
  signal?.removeEventListener('abort', stop);
  watcher?.close();
}
