import type { Failure } from '../model/failure.js';
import { systemClock } from '../util/clock.js';
import { delay } from '../util/timer.js';
import { Capture } from './capture.js';
import type { Exit } from './child.js';
import { drained } from './drain.js';
import { INTERRUPTED, ownFailure, withSaid } from './end-failure.js';
import { endTree, killTreesNow } from './end-tree.js';
import type { Tree } from './known-tree.js';
import { nextMark } from './mark.js';
import type { ProcessRequest, ProcessResult } from './process.js';
import { identityOf } from './process-identity.js';
import { answersSignals } from './send-signal.js';
import { startChild } from './start-child.js';
import { Watch } from './watch.js';

/** After KILL the kernel reports the end at once, unless the process is stuck in the kernel. */
const EXIT_WAIT_MS = 1_000;

const underWay = new Set<Tree>();

/** Kills all running processes without waiting: for a surface that must end at once. */
export function killAllNow(): void {
  killTreesNow(underWay);
}

/** Starts a program; resolves when it and everything it started are gone. Never rejects. */
export async function runProcess(request: ProcessRequest): Promise<ProcessResult> {
  const startedAt = systemClock.elapsed();
  const capture = new Capture(request);
  const end: End = request.signal?.aborted ? { failure: INTERRUPTED } : await attend(request, capture);
  return {
    stdout: capture.stdout(),
    stderrTail: capture.stderrTail(),
    exitCode: end.exit?.code ?? null,
    signal: end.exit?.signal ?? null,
    durationMs: systemClock.elapsed() - startedAt,
    failure: end.failure,
  };
}

interface End {
  readonly exit?: Exit;
  readonly failure?: Failure;
}

/** The life of a process: start it, wait, end its remaining descendants, read its streams to the end. */
async function attend(request: ProcessRequest, capture: Capture): Promise<End> {
  const mark = request.marked ? nextMark() : undefined;
  const started = startChild(request, mark);
  if ('failure' in started) return { failure: await started.failure };
  const { child, traced } = started;
  const { pid } = child;
  const identity = mark ? { ...identityOf(pid), mark: `${mark.name}=${mark.value}` } : identityOf(pid);
  const tree: Tree = { root: pid, mark: identity.mark, since: identity.startTicks };
  underWay.add(tree);
  const watch = new Watch(request, child);
  capture.listen(child, {
    activity: () => watch.activity(),
    stop: (failure) => watch.stop(failure),
  });
  request.onStart?.(identity);

  await watch.over;
  // If the group is empty, this probe is all that the end costs.
  if (watch.stopped || mark || answersSignals(-pid)) await endTree(tree, request.graceMs);
  if (!child.exit) await Promise.race([watch.exited(), delay(EXIT_WAIT_MS, { ref: false })]);
  if (await traced?.finish(request.graceMs)) request.trace?.close();
  if (!child.isClosed) await drained(child, () => capture.received);

  underWay.delete(tree);
  const exit = child.exit ?? { code: null, signal: null };
  const said = capture.stderrTail();
  return { exit, failure: watch.stopped ? withSaid(watch.stopped, said) : ownFailure(request, exit, said) };
}
