import { journalChanged } from '../../run/history/follow-run.js';
import { runHead } from '../../run/history/run-head.js';
import { journalOf, runsFolder } from '../../run/history/runs-folder.js';
import { continuedBy } from '../../run/history/succession.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';
import { delay } from '../../util/timer.js';
import type { EventStream } from './event-stream.js';
import type { RunList } from './run-list.js';

/** The states of the list and of the shown run that a browser has seen; the id of an event holds both. */
interface Seen {
  list: string;
  run: string;
}

/**
 * Sends an event when the list or the shown run has changed; the browser then requests the new state. So a browser
 * that slept for an hour gets one event, and for a slow one nothing is queued.
 */
export async function sendChanges(
  stream: EventStream,
  { project, list }: { readonly project: Project; readonly list: RunList },
  { runId, since }: { readonly runId: string | undefined; readonly since: string },
): Promise<void> {
  const [seenList = '', seenRun = ''] = since.split('.');
  const seen: Seen = { list: seenList, run: seenRun };
  while (!stream.signal.aborted) {
    const run = runId === undefined ? '' : changeMark(project, runId);
    const marks: Seen = { list: list.mark(), run };
    const id = `${marks.list}.${marks.run}`;
    if (marks.list !== seen.list) await stream.send({ id, event: 'runs', data: {} });
    if (runId !== undefined && run !== seen.run) {
      await stream.send({ id, event: run === GONE ? 'gone' : 'run', data: { runId } });
    }
    Object.assign(seen, marks);
    await journalChanged(runId === undefined ? runsFolder(project) : journalOf(project, runId), stream.signal);
    await delay(PAUSE_MS, { ref: false });
  }
}

const GONE = 'gone';
/** How often a busy run is checked. */
const PAUSE_MS = 100;

/** Differs once the run does: more lines, its end, its death, a shorter journal, or a run that continues it. */
export function changeMark(project: Project, runId: string): string {
  const head = runHead(project, runId);
  const file = statIfThere(journalOf(project, runId));
  if (!head || !file) return GONE;
  return [file.size, Math.round(file.mtimeMs), head.state, continuedBy(project, runId) ?? ''].join('-');
}
