import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from '../../util/project.js';
import type { JournalLine } from '../journal/lines.js';
import { lastRuns, runFolder } from './runs-folder.js';
import { latestOf } from './succession.js';

/** What a person cleared after a run ended: a run that continues it must not carry that over. */
interface ClearedResults {
  /** Absent: every phase. */
  readonly phase?: string;
  /** What was made before this moment. */
  readonly before: number;
}

const NAME = 'cleared.jsonl';

/** Records in each run that could be continued (of one flow, or of all) that these results must not be reused. */
export function clearResults(project: Project, flow: string | undefined, cleared: ClearedResults): void {
  const runIds = new Set<string>();
  for (const runId of lastRuns(project, flow)) {
    const latest = latestOf(project, runId);
    if (latest) runIds.add('head' in latest ? latest.head.runId : latest.claimedBy);
  }
  for (const runId of runIds) {
    try {
      appendFileSync(join(runFolder(project, runId), NAME), `${JSON.stringify(cleared)}\n`, { mode: 0o600 });
    } catch {
      // Pruned meanwhile, or a read-only project, in which nothing can be continued either.
    }
  }
}

/** Whether a line of this run's journal is a result that was cleared. A side effect that took place stays done. */
export function clearedIn(project: Project, runId: string): (line: JournalLine) => boolean {
  const all = readCleared(join(runFolder(project, runId), NAME));
  return (line) => {
    if (all.length === 0 || (line.type !== 'unit' && line.type !== 'phase') || line.idempotent === false) return false;
    const id = line.phase.replace(/^rows\/[^/]*\//, '').split('/')[0];
    const madeAt = line.madeAt ?? line.at;
    return all.some(({ phase, before }) => madeAt < before && (phase === undefined || phase === id));
  };
}

function readCleared(path: string): ClearedResults[] {
  try {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as ClearedResults).filter(({ before }) => Number.isFinite(before));
  } catch {
    // Nothing was cleared. What cannot be read was not written by us.
    return [];
  }
}
