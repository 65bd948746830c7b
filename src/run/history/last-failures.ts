import type { Project } from '../../util/project.js';
import { readLines } from '../journal/reader.js';
import { journalOf } from './runs-folder.js';

export interface LastFailure {
  readonly at: number;
  readonly message: string;
}

/** Phases that did not go well in a run, by their paths. */
export function lastFailures(project: Project, runId: string | undefined): Map<string, LastFailure> {
  const failures = new Map<string, LastFailure>();
  if (runId === undefined) return failures;
  for (const { line } of readLines(journalOf(project, runId))) {
    if (line.type !== 'phase') continue;
    const { phase, status, at, failure, reason } = line;
    if (status === 'failed' || status === 'blocked') failures.set(phase, { at, message: failure?.message ?? reason });
    else failures.delete(phase);
  }
  return failures;
}
