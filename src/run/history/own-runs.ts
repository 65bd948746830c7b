import { appendDerivedFile, readDerivedFile, writeDerivedFile } from '../../util/derived-cache.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';
import { journalOf } from './runs-folder.js';

/**
 * Ids of the runs that this user began in this project, one per line, in the user's own folder. A journal that came
 * with a clone or an archive may hold results and approvals of somebody else: nothing is continued from it unless a
 * person names the run.
 */
const LIST = 'own-runs.txt';
const LONG = 2_000;

export function rememberOwnRun(project: Project, runId: string): void {
  appendDerivedFile(project, LIST, `${runId}\n`);
}

export function isOwnRun(project: Project, runId: string): boolean {
  const ids = (readDerivedFile(project, LIST)?.toString('latin1') ?? '').split('\n');
  if (ids.length > LONG) shorten(project, ids);
  return ids.includes(runId);
}

function shorten(project: Project, ids: readonly string[]): void {
  const left = ids.filter((runId) => runId !== '' && statIfThere(journalOf(project, runId)));
  writeDerivedFile(project, LIST, left.map((runId) => `${runId}\n`).join(''));
}
