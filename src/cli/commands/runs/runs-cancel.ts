import { holderState, sharesProcessIds } from '../../../process/process-identity.js';
import { followRun } from '../../../run/history/follow-run.js';
import { type RunHead, runHead } from '../../../run/history/run-head.js';
import { startTimer } from '../../../util/timer.js';
import { namedRun, RUN_POSITIONAL } from '../../batch/follow.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';

/** The run gives its processes time to end before it kills them. */
const LONGEST_MS = 30_000;

export const command: Command = {
  usage: 'RUN',
  description: `Ends a run as Ctrl-C does: what is under way is ended in order, what is done is kept.`,
  examples: [{ command: 'taskflow runs cancel last', does: 'the run that is under way' }],
  flags: [jsonFlag('as JSON: {runId, state}')],
  positionals: RUN_POSITIONAL,
  async run(invocation) {
    const head = namedRun(invocation);
    if ('status' in head) return head.status;
    if (head.state !== 'running') return report(invocation, head, `${head.runId} is not under way: ${head.state}`);
    const { owner } = head.run;
    // Elsewhere the id may belong to another process: only a process that is certainly the owner gets the signal.
    if (!sharesProcessIds(owner) || holderState(owner) !== 'alive') {
      return complain(invocation, `${head.runId} is executed on ${owner.host}`, 'cancel it there');
    }
    process.kill(owner.pid, 'SIGTERM');
    const ended = await waitForEnd(invocation, head);
    if (ended.state !== 'running') return report(invocation, ended, `${head.runId} was ended`);
    invocation.err.write(`${head.runId} was asked to end and has not yet; its process is ${owner.pid}\n`);
    return EXIT.failed;
  },
};

async function waitForEnd({ project }: Invocation, head: RunHead): Promise<RunHead> {
  const over = new AbortController();
  const timer = startTimer(LONGEST_MS, () => over.abort());
  for await (const _ of followRun(project, head.runId, { wait: true, signal: over.signal }));
  clearTimeout(timer);
  return runHead(project, head.runId) ?? head;
}

function report({ out, err, flags }: Invocation, { runId, state }: RunHead, text: string): number {
  if (flags.boolean('json')) out.write(`${JSON.stringify({ runId, state })}\n`);
  else err.write(`${text}\n`);
  return EXIT.success;
}
