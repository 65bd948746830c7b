import { type RunHead, runHead } from '../../run/history/run-head.js';
import { runIds } from '../../run/history/runs-folder.js';
import type { Project } from '../../util/project.js';

type FoundRun = { readonly runId: string } | { readonly problem: string; readonly hint: string };

/**
 * RUN as a person types it: the id, a unique part of it, or `last`. `isMeant` says which run `last` is,
 * if there is one: the last one that waits, the last one that can be resumed.
 */
export function findRun(project: Project, typed: string, isMeant?: (head: RunHead) => boolean): FoundRun {
  const ids = runIds(project);
  if (ids.length === 0) return { problem: 'nothing has run in this project yet', hint: 'taskflow run FLOW' };
  if (typed === 'last')
    return { runId: (isMeant && newest(project, ids, isMeant)) ?? newest(project, ids, () => true) ?? ids[0]! };
  if (ids.includes(typed)) return { runId: typed };
  const matching = typed.length < 3 ? [] : ids.filter((id) => id.includes(typed));
  if (matching.length === 1) return { runId: matching[0]! };
  if (matching.length > 1) {
    return {
      problem: `${typed} matches ${matching.length} runs`,
      hint: `such as ${matching[0]} and ${matching[1]}`,
    };
  }
  return { problem: `there is no run ${typed.slice(0, 100)}`, hint: '`taskflow runs` lists them' };
}

/** Ids sort by the second; of several runs within one, the journal knows which started last. */
function newest(project: Project, ids: readonly string[], isMeant: (head: RunHead) => boolean): string | undefined {
  let best: RunHead | undefined;
  for (const id of ids) {
    if (best && !id.startsWith(best.runId.slice(0, 15))) break;
    const head = runHead(project, id);
    if (head && isMeant(head) && (!best || head.run.at > best.run.at)) best = head;
  }
  return best?.runId;
}
