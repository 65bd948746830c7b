import { followRun } from '../../run/history/follow-run.js';
import { type RunHead, runHead } from '../../run/history/run-head.js';
import type { Command, Invocation, Writer } from '../boot/command.js';
import { complain } from '../errors/problem.js';
import { findRun } from '../load/run-ref.js';
import { LineBuffer } from '../terminal/line-buffer.js';
import { eventLine } from '../text/event-line.js';
import { createRunView, type RunDisplay } from '../view/run-view.js';
import { createBatchView } from './batch-view.js';

export const RUN_POSITIONAL: Command['positionals'] = [
  { name: 'RUN', help: 'id of a run, a unique part of it, or last', required: true },
];

/** The run that the user named; `last` prefers the last one that is under way. */
export function namedRun(invocation: Invocation): RunHead | { readonly status: number } {
  const { project, positionals } = invocation;
  const found = findRun(project, positionals[0]!, ({ state }) => state === 'running');
  if ('problem' in found) return { status: complain(invocation, found.problem, found.hint) };
  const head = runHead(project, found.runId);
  return head ?? { status: complain(invocation, `the journal of ${found.runId} cannot be read`) };
}

interface Following {
  /** Where it is shown: live on a terminal, else line by line. */
  readonly target: Writer;
  readonly wait: boolean;
  readonly signal?: AbortSignal;
}

/** Shows a run that another process executes, or has executed. */
export async function showFollowed(
  { project }: Invocation,
  { runId, run }: RunHead,
  following: Following,
): Promise<void> {
  const { target, wait, signal } = following;
  const shown = { out: target, clock: project.clock };
  const view = run.mode === 'batch' ? batchView(shown) : createRunView(shown);
  for await (const event of followRun(project, runId, { wait, signal })) view.onEvent(event);
  view.stop();
}

function batchView(shown: Parameters<typeof createBatchView>[0]): Pick<RunDisplay, 'onEvent' | 'stop'> {
  const view = createBatchView(shown);
  return { onEvent: view.onEvent, stop: () => view.stop(undefined, undefined) };
}

/** The same for programs: an event per line. */
export async function writeFollowed({ project, out }: Invocation, runId: string, following: Omit<Following, 'target'>) {
  const lines = new LineBuffer(out);
  for await (const event of followRun(project, runId, following)) lines.add(eventLine(event));
  lines.flush();
}

/** Ctrl-C ends following, not the run. */
export function untilInterrupted(): { readonly signal: AbortSignal; dispose(): void } {
  const controller = new AbortController();
  const listener = () => controller.abort();
  process.once('SIGINT', listener);
  return { signal: controller.signal, dispose: () => process.off('SIGINT', listener) };
}
