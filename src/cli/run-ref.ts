import { runIds } from '../run/runs-folder.js';
import type { Project } from '../util/project.js';

export type FoundRun = { readonly runId: string } | { readonly problem: string; readonly hint: string };

/** RUN as a person types it: the id, a unique beginning or end of it, or `last`. */
export function findRun(project: Project, typed: string): FoundRun {
  const ids = runIds(project);
  const hint = '`taskflow runs` lists them';
  if (ids.length === 0) return { problem: 'nothing has run in this project yet', hint: 'taskflow run FLOW' };
  if (typed === 'last') return { runId: ids[0]! };
  if (ids.includes(typed)) return { runId: typed };
  const matching = typed.length < 3 ? [] : ids.filter((id) => id.startsWith(typed) || id.endsWith(typed));
  if (matching.length === 1) return { runId: matching[0]! };
  if (matching.length > 1)
    return {
      problem: `${typed} stands for ${matching.length} runs`,
      hint: `such as ${matching[0]} and ${matching[1]}`,
    };
  return { problem: `there is no run ${typed.slice(0, 100)}`, hint };
}
