import { runHead } from '../../run/history/run-head.js';
import type { Invocation } from '../boot/command.js';
import { EXIT } from '../errors/exit-status.js';
import { exitStatusOf } from './run-status.js';

/** The exit status for a followed run; reports a run whose process died. */
export function followedStatus({ project, err }: Invocation, runId: string): number {
  const end = runHead(project, runId)?.end;
  if (end) return exitStatusOf({ status: end.status, ...(end.failure && { error: { phase: '', ...end.failure } }) });
  err.write(
    `${runId} stopped without an end: its process died\n  taskflow resume ${runId} goes on with what is done\n`,
  );
  return EXIT.failed;
}
