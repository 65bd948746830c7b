import { totalTokens } from '../../model/outcome.js';
import type { Project } from '../../util/project.js';
import { readLines } from '../journal/reader.js';
import { journalOf } from './runs-folder.js';

export interface LastCost {
  /** Undefined where no price is known. */
  readonly usd?: number;
  readonly tokens: number;
  readonly ms: number;
}

/** What the phases of a run cost when they were executed, in it or before, by their paths. */
export function lastCosts(project: Project, runId: string | undefined): Map<string, LastCost> {
  const costs = new Map<string, LastCost>();
  if (runId === undefined) return costs;
  for (const { line } of readLines(journalOf(project, runId))) {
    if (line.type !== 'phase' || line.status !== 'done') continue;
    const { usage, durationMs } = line.cost ?? line;
    costs.set(line.phase, { usd: usage.usd, tokens: totalTokens(usage), ms: durationMs });
  }
  return costs;
}
