import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { RunStatus } from '../../model/event.js';
import { spentOn } from '../../model/outcome.js';
import { parsedJson } from '../../util/if-there.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';
import { isJournalLine } from '../journal/line-shape.js';
import type { EndLine, JournalLine, LimitLine, RunLine } from '../journal/lines.js';
import { readRunLine } from '../journal/reader.js';
import { isOwnerAlive } from './heartbeat.js';
import { journalOf } from './runs-folder.js';

/** `running`: its process is alive. `crashed`: the process is gone and its journal has no end. */
export type RecordedState = RunStatus | 'running' | 'crashed';

export interface RunHead {
  readonly runId: string;
  readonly run: RunLine;
  readonly state: RecordedState;
  /** Of the end; of the last sign of life where there is none. */
  readonly endedAt: number;
  readonly end?: EndLine;
}

/** The state of a run, from the first and the last line of its journal. */
export function runHead(project: Project, runId: string): RunHead | undefined {
  const path = journalOf(project, runId);
  const run = readRunLine(path);
  const modified = statIfThere(path)?.mtimeMs;
  if (!run || modified === undefined) return undefined;
  const end = endOfRun(project, runId);
  if (end) return { runId, run, state: end.status, endedAt: end.at, end };
  const state = isOwnerAlive(project, { runId, owner: run.owner }) ? 'running' : 'crashed';
  return { runId, run, state, endedAt: modified };
}

/** How a run ended; undefined when it has not, or there is no such run. */
export function endOfRun(project: Project, runId: string): EndLine | undefined {
  try {
    return lastEnd(journalOf(project, runId));
  } catch {
    // Cleared meanwhile.
    return undefined;
  }
}

export function isUnfinished(state: RecordedState): boolean {
  return state !== 'success' && state !== 'running';
}

/** The run is not finished. One with `--until` succeeds and still has more to do. */
export function hasMoreToDo({ state, end }: Pick<RunHead, 'state' | 'end'>): boolean {
  return isUnfinished(state) || (state === 'success' && end?.partial === true);
}

/** Most ends are short. One that quotes what a process said, or has decisions after it, may be longer. */
const TAILS = [16 * 1024, 1024 * 1024];

/** Decisions may be appended after the end; the end is near the end all the same. */
function lastEnd(path: string): EndLine | undefined {
  return lastLine(path, 'end');
}

/** The usage limit that a run under way waits for now. */
export function currentLimit(
  project: Project,
  { runId, state }: Pick<RunHead, 'runId' | 'state'>,
): LimitLine | undefined {
  if (state !== 'running') return undefined;
  const limit = lastLine(journalOf(project, runId), 'limit');
  return limit?.waits && limit.until > project.clock.now() ? limit : undefined;
}

type LineOf<T> = Extract<JournalLine, { readonly type: T }>;

function lastLine<T extends 'end' | 'limit'>(path: string, type: T): LineOf<T> | undefined {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    for (const tail of TAILS) {
      const length = Math.min(size, tail);
      const buffer = Buffer.allocUnsafe(length);
      readSync(fd, buffer, 0, length, size - length);
      const line = lastIn(buffer.toString('utf8'), type);
      if (line || length === size) return line;
    }
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function lastIn<T extends 'end' | 'limit'>(tail: string, type: T): LineOf<T> | undefined {
  for (const text of tail.split('\n').reverse()) {
    if (!text.startsWith(`{"type":"${type}"`)) continue;
    // Cut short: the run ended while it wrote the line, which is none.
    const line = parsedJson(text);
    return isJournalLine(line) && line.type === type ? (line as LineOf<T>) : undefined;
  }
  return undefined;
}

/** A run of the list, for programs. */
export function runJson({ runId, run, state, endedAt, end }: RunHead) {
  return {
    runId,
    flow: run.flow,
    file: run.file ?? null,
    state,
    startedAt: run.at,
    durationMs: end?.durationMs ?? Math.max(0, Math.round(endedAt - run.at)),
    spent: end ? spentOn(end.spent) : null,
    saved: end?.saved ?? null,
    continues: run.continues ?? null,
  };
}
