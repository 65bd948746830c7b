import { journalChanged } from '../../run/history/follow-run.js';
import { runHead } from '../../run/history/run-head.js';
import { journalOf, runsFolder } from '../../run/history/runs-folder.js';
import { continuedBy } from '../../run/history/succession.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';
import { delay } from '../../util/timer.js';
import type { EventStream } from './event-stream.js';
import type { RunList } from './run-list.js';

/** What a browser has seen: of the list, and of the run that it shows. The id of an event says both. */
interface Seen {
  list: string;
  run: string;
}

/**
 * Says when the list or the shown run has changed; what it is now, the browser asks for. So a browser that slept for
 * an hour is told once, and one that is slow never makes us remember anything.
 */
export async function sendChanges(
  stream: EventStream,
  { project, list }: { readonly project: Project; readonly list: RunList },
  { runId, since }: { readonly runId: string | undefined; readonly since: string },
): Promise<void> {
  const [seenList = '', seenRun = ''] = since.split('.');
  const seen: Seen = { list: seenList, run: seenRun };
  while (!stream.signal.aborted) {
    const run = runId === undefined ? '' : runMark(project, runId);
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
/** A run that says much is looked at so often. */
const PAUSE_MS = 100;

/** Differs as soon as the run does: it has said more, ended, died, was cut, or another run went on with it. */
export function runMark(project: Project, runId: string): string {
  const head = runHead(project, runId);
  const file = statIfThere(journalOf(project, runId));
  if (!head || !file) return GONE;
  return [file.size, Math.round(file.mtimeMs), head.state, continuedBy(project, runId) ?? ''].join('-');
}
