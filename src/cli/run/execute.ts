import type { RunOptions } from '../../run/core/options.js';
import type { RunResult } from '../../run/core/result.js';
import type { SnapshotCollector } from '../../run/snapshot/collect.js';
import { startRun } from '../../run/start/start-run.js';
import { oneAtATime } from '../../util/one-at-a-time.js';
import type { Invocation } from '../boot/command.js';
import { EXIT } from '../errors/exit-status.js';
import { complain } from '../errors/problem.js';
import type { RunDisplay } from '../view/run-view.js';
import { type Interrupt, listenForInterrupts } from './interrupt.js';
import { sendTrace, traceProblem, wantsTrace } from './otel.js';
import { printResult, showingRun, wantsReports } from './show-run.js';
import { TIDIER } from './tidier.js';
import { interruptLine, openWorkers } from './workers.js';

export interface ExecuteOptions {
  readonly snapshot?: SnapshotCollector;
  /** Who ends the run. */
  readonly listen?: (say: (line: string) => void) => Interrupt;
  /** Called with what the run ended as. */
  readonly onResult?: (result: RunResult) => void;
}

/** Runs a flow for a person or a program: shows it, asks, listens for Ctrl-C, prints the result. */
export async function executeRun(
  invocation: Invocation,
  options: Omit<RunOptions, 'signal' | 'approve' | 'decideEffect'>,
  { snapshot, listen = listenForInterrupts, onResult }: ExecuteOptions = {},
): Promise<number> {
  const problem = await reportProblem(invocation);
  if (problem !== undefined) return complain(invocation, problem);
  const showing = showingRun(invocation, options.flow.file ?? options.source.ref);
  const { view } = showing;
  const workers = await openWorkers(invocation, options);
  if ('problem' in workers) {
    showing.end();
    return complain(invocation, workers.problem, workers.hint);
  }
  for (const notice of workers.notices ?? []) view.notice(`warning: ${notice}`);
  const interrupt = listen((line) => view.notice(interruptLine(invocation, line)));
  const asks = { ...(await askers(invocation, view)), signal: interrupt.signal, tidier: TIDIER };
  const progress = invocation.flags.boolean('events') ? 'all' : 'steps';
  const collect = snapshot && { onMade: snapshot.onMade };
  const { sender } = workers;
  const run = { ...options, ...asks, ...collect, progress, workers: sender } as const;
  const result = await startRun(run, showing.onEvent);
  interrupt.dispose();
  await sender?.close();
  showing.end();
  if ('refused' in result) return complain(invocation, result.refused.message, result.refused.hint);
  onResult?.(result);
  const status = printResult(invocation, result);
  snapshot?.end(result);
  const reported =
    !wantsReports(invocation) || (await import('./reports.js')).writeRunReports(invocation, options.flow, result);
  if (wantsTrace(invocation)) await sendTrace(invocation, result.runId);
  return reported ? status : status || EXIT.failed;
}

/** Why the test report or trace cannot be written, before anything is spent on the run. */
export async function reportProblem(invocation: Invocation): Promise<string | undefined> {
  const junit = invocation.flags.has('junit') ? (await import('./reports.js')).prepareReport(invocation) : undefined;
  return junit ?? traceProblem(invocation);
}

/** Undefined where there is no person to ask, as in CI even with a terminal: the run then pauses or stops. */
export async function askers(
  { flags, err, stdin }: Invocation,
  view: Pick<RunDisplay, 'suspend'>,
  /** The name of a phase for the person. */
  nameOf: (phase: string) => string = (phase) => phase,
): Promise<Pick<RunOptions, 'approve' | 'decideEffect'>> {
  const yes: RunOptions['approve'] = flags.boolean('yes') ? async () => ({ decision: 'approve' }) : undefined;
  const cannotAsk = !err.isLive || !stdin.isTerminal || flags.boolean('json') || flags.boolean('events');
  if (cannotAsk) return yes ? { approve: yes } : {};
  // One question at a time, in the order they came up.
  const inTurn = oneAtATime();
  const suspend = () => view.suspend();
  return {
    approve:
      yes ??
      ((request) =>
        inTurn(async () => {
          const { askApproval } = await import('./ask-approval.js');
          return askApproval({ ...request, phase: nameOf(request.phase) }, err, suspend);
        })),
    decideEffect: (question) =>
      inTurn(async () => {
        const { askEffect } = await import('./ask-effect.js');
        return askEffect({ ...question, phase: nameOf(question.phase) }, err, suspend);
      }),
  };
}
