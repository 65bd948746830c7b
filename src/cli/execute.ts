import type { RunEvent } from '../model/event.js';
import type { RunOptions } from '../run/options.js';
import type { RunResult } from '../run/result.js';
import { startRun } from '../run/start-run.js';
import type { Invocation } from './command.js';
import { EXIT } from './exit-status.js';
import { listenForInterrupts } from './interrupt.js';
import { LineBuffer } from './line-buffer.js';
import { complain } from './problem.js';
import { exitStatusOf } from './run-status.js';
import { createRunView, type RunView } from './view/run-view.js';

/** Runs a flow for a person or a program: shows it, asks, listens for Ctrl-C, prints the result. */
export async function executeRun(
  invocation: Invocation,
  options: Omit<RunOptions, 'signal' | 'approve'>,
): Promise<number> {
  const { flags, out, err, project } = invocation;
  const view = flags.boolean('quiet') ? undefined : createRunView({ out: err, clock: project.clock });
  const events = flags.boolean('events') ? new LineBuffer(out) : undefined;
  const interrupt = listenForInterrupts((line) => (view ? view.notice(line) : err.write(`${line}\n`)));
  const onEvent = (event: RunEvent) => {
    events?.add(JSON.stringify(event));
    view?.onEvent(event);
  };
  const approve = await approver(invocation, view);
  const result = await startRun({ ...options, signal: interrupt.signal, ...(approve ? { approve } : {}) }, onEvent);
  interrupt.dispose();
  events?.flush();
  view?.stop();
  if ('refused' in result) return complain(invocation, result.refused.message, result.refused.hint);
  printResult(invocation, result);
  const status = exitStatusOf(result);
  if (!wantsReports(invocation)) return status;
  const { writeRunReports } = await import('./reports.js');
  return writeRunReports(invocation, options.flow, result) ? status : status || EXIT.failed;
}

/** `--junit`, or a job of GitHub Actions around us. */
export function wantsReports({ flags, project }: Invocation): boolean {
  return flags.string('junit') !== undefined || project.env['GITHUB_ACTIONS'] === 'true';
}

/** Nobody to ask: the run pauses. In CI there is nobody either, whatever the terminal looks like. */
export async function approver(
  { flags, err, stdin }: Invocation,
  view: Pick<RunView, 'suspend'> | undefined,
): Promise<RunOptions['approve']> {
  if (flags.boolean('yes')) return async () => ({ decision: 'approve' });
  if (!err.isLive || !stdin.isTerminal || flags.boolean('json') || flags.boolean('events')) return undefined;
  // One question at a time, in the order they came up.
  let previous: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answer = previous.then(async () => {
      const { askApproval } = await import('./ask-approval.js');
      return askApproval(request, err, () => view?.suspend() ?? (() => {}));
    });
    previous = answer;
    return answer;
  };
}

function printResult({ flags, out }: Invocation, result: RunResult): void {
  if (flags.boolean('json')) out.write(`${JSON.stringify(result)}\n`);
  else if (!flags.boolean('events') && result.status === 'success' && result.output !== '') {
    out.write(result.output.endsWith('\n') ? result.output : `${result.output}\n`);
  }
}
