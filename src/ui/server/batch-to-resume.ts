import { LEFT_OUT, resumeCommand, rowFlagsOf } from '../../run/batch/row-flags.js';
import { runHead } from '../../run/history/run-head.js';
import { isRunId, lastRunId } from '../../run/history/runs-folder.js';
import type { Project } from '../../util/project.js';

export interface BatchToResume {
  readonly flow: string;
  readonly flags: readonly string[];
  readonly command: string;
  /** Why only a person at a terminal can resume it; null where the page can. */
  readonly byHand: string | null;
}

/** How to continue a batch; undefined for a plain run, and for a batch that is not the last over its rows. */
export function batchToResume(project: Project, runId: string): BatchToResume | undefined {
  const run = isRunId(runId) ? runHead(project, runId)?.run : undefined;
  if (run?.mode !== 'batch' || lastRunId(project, run.file ?? run.ref, run.argsDigest) !== runId) return undefined;
  const flow = run.byName || run.file === undefined ? run.ref : run.file;
  const flags = [`--over=${run.over}`, ...rowFlagsOf(run), '--resume'];
  return { flow, flags, command: resumeCommand({ ...run, ref: flow }), byHand: whyByHand(flags) };
}

function whyByHand(flags: readonly string[]): string | null {
  if (flags.includes('--over=-') || flags.includes('--args-file=-')) return 'its rows came from standard input';
  return flags.some((flag) => flag.endsWith(`=${LEFT_OUT}`)) ? 'a secret argument has to be given again' : null;
}
