import type { Retry } from '../../model/flow.js';
import { LONGEST_PAUSE_MS } from '../../model/limits.js';
import { addUsage } from '../../model/outcome.js';
import { formatDuration } from '../../util/duration.js';
import { pause } from '../../util/pause.js';
import type { PhaseContext } from '../context/phase-context.js';
import { notStarted } from '../core/cancelled.js';
import { type Execution, failedBefore } from '../core/execution.js';
import { unionOf } from '../core/observation-union.js';
import { lastWords } from '../core/output-text.js';

/** Without a word about retries, an agent call that met a passing provider error is tried three times more. */
const TRANSIENT_RETRY: Retry = { max: 3, backoffMs: 1_000, factor: 3 };

/** Failures that another attempt cannot change. */
const FINAL = new Set([
  'usage-limit',
  'interrupted',
  'budget',
  'frozen',
  'in-doubt',
  'no-runner',
  'unresolved',
  'bad-input',
  'limit',
]);

export interface Attempt extends Execution {
  /** The agent has acted on the world already: nothing is repeated behind a person's back. */
  readonly usedTools?: boolean;
}

/** What is attempted. An agent call that says nothing about retries is retried by itself; a process is not. */
interface Tried {
  readonly unit?: string;
  readonly calls: 'agent' | 'process';
}

/**
 * Runs attempts until one succeeds or none is left. What failed attempts cost and took counts too, with the pauses, and
 * what they looked at and left behind.
 */
export async function withRetries(
  at: PhaseContext,
  { unit, calls }: Tried,
  attempt: () => Promise<Attempt>,
): Promise<Execution> {
  const { run } = at;
  const { admission } = at.scope;
  const { clock } = run.options.project;
  let spent: Execution | undefined;
  let begunAt = 0;
  /** Attempts that met a usage limit. They are no part of `retry`, and waiting for the reset no part of the time. */
  let limited = 0;
  let limitedAt: number | undefined;
  for (let number = 1; ; number++) {
    if (at.signal.aborted) return spent ?? failedBefore(notStarted(at));
    const result = await attempt();
    // Not let in any more: the phase ends as its last attempt did.
    if (spent && result.status === 'cancelled' && result.attempts === 0)
      return notAgain(spent, admission.closed?.message);
    // Waiting for the first turn is no part of it.
    if (!spent) begunAt = clock.elapsed() - result.durationMs;
    if (limitedAt !== undefined) begunAt += clock.elapsed() - result.durationMs - limitedAt;
    limitedAt = undefined;
    const durationMs = clock.elapsed() - begunAt;
    const total = spent
      ? {
          ...result,
          usage: addUsage(spent.usage, result.usage),
          durationMs,
          attempts: number,
          observed: unionOf([spent.observed, result.observed]),
        }
      : result;
    // What was not let in has not been attempted.
    const attempts = result.attempts === 0 ? number - 1 : number;
    if (result.status !== 'failed' || !result.failure) {
      return total.attempts === attempts ? total : { ...total, attempts };
    }
    if (result.attempts === 0 && result.failure.code === 'usage-limit') return { ...total, attempts };
    const ended = { ...total, attempts: number };
    if (isWorthWaiting(at, result)) {
      journalAttempt(at, { unit, number, result });
      if (run.options.waitForLimits === false) return { ...ended, status: 'paused' };
      limited += 1;
      limitedAt = clock.elapsed();
      spent = total;
      // The next attempt waits at the gate of its runner.
      continue;
    }
    const delayMs = nextDelay(at, result, { calls, number: number - limited });
    // An attempt is new work like any other: once something else has failed, none is begun.
    const against =
      delayMs === undefined ? undefined : (sideEffect(result) ?? admission.closed?.message ?? waitsTooLong(at, result));
    journalAttempt(at, { unit, number, result, retryInMs: against === undefined ? delayMs : undefined });
    if (delayMs === undefined) return ended;
    if (against !== undefined) return notAgain(ended, against);
    run.io.emit({
      type: 'retry',
      phase: at.path,
      unit,
      attempt: number,
      delayMs,
      error: run.io.secrets.mask(result.failure.message),
    });
    const waited = await pause(delayMs, AbortSignal.any([at.signal, admission.ended]));
    if (waited === 'aborted') return notAgain(ended, admission.closed?.message);
    spent = total;
  }
}

/**
 * A usage limit that resets soon enough. The call is made again from its start, even if the agent had used tools: it
 * would be in a run that is continued by hand. What must not be repeated says `idempotent: false`.
 */
function isWorthWaiting({ phase }: PhaseContext, { failure }: Attempt): boolean {
  return failure?.code === 'usage-limit' && failure.transient === true && phase.idempotent;
}

/** What failed says why nobody tried again, where that was not its own fault. */
function notAgain(ended: Execution, why: string | undefined): Execution {
  const { failure } = ended;
  if (!failure || why === undefined) return ended;
  return { ...ended, failure: { ...failure, message: `${failure.message} (not tried again: ${why})` } };
}

/** Another attempt would repeat one: that which failed, or, where the whole is no good, all of it. */
function sideEffect(result: Attempt): string | undefined {
  const repeats = result.acted === 'failed' || (result.acted !== undefined && brokePromise(result));
  return repeats ? 'something in it is not idempotent' : undefined;
}

/**
 * A server may ask for any pause. The phase fails at once if the pause is longer than its timeout or than the time that
 * the run has left: the reader of the failure knows sooner.
 */
function waitsTooLong({ phase, run }: PhaseContext, { failure }: Attempt): string | undefined {
  const askedMs = failure?.retryAfterMs;
  if (askedMs === undefined) return undefined;
  const leftMs =
    run.limits.endsAt === undefined ? undefined : Math.max(0, run.limits.endsAt - run.options.project.clock.elapsed());
  const mostMs = Math.min(LONGEST_PAUSE_MS, phase.timeoutMs ?? LONGEST_PAUSE_MS, leftMs ?? LONGEST_PAUSE_MS);
  if (askedMs <= mostMs) return undefined;
  return `the server asks to wait ${formatDuration(askedMs)}, and ${formatDuration(mostMs)} is the most here`;
}

function journalAttempt(
  { run, path }: PhaseContext,
  {
    unit,
    number,
    result,
    retryInMs,
  }: { readonly unit?: string; readonly number: number; readonly result: Attempt; readonly retryInMs?: number },
): void {
  const text = lastWords(result.output);
  run.io.journal.write({
    type: 'attempt',
    at: run.options.project.clock.now(),
    phase: path,
    unit,
    attempt: number,
    durationMs: result.durationMs,
    usage: result.usage,
    failure: run.io.secrets.maskValue(result.failure as never),
    inputs: run.io.secrets.maskValue(result.inputs),
    partial: text === '' ? undefined : run.io.secrets.mask(text).slice(-4_000),
    retryInMs,
  });
}

/** A nested flow whose result is not what the phase around it promises; its own phases are all done. */
export function brokePromise({ status, failure }: Execution): boolean {
  return status === 'failed' && (failure?.code === 'expect' || failure?.code === 'not-json');
}

/** How long to wait before the next attempt; undefined when there is none. */
function nextDelay(
  at: PhaseContext,
  result: Attempt,
  { calls, number }: Pick<Tried, 'calls'> & { readonly number: number },
): number | undefined {
  const { phase } = at;
  const failure = result.failure!;
  if (!phase.idempotent || FINAL.has(failure.code)) return undefined;
  const byItself = phase.retry === undefined && calls === 'agent';
  if (byItself && (!failure.transient || result.usedTools)) return undefined;
  const retry = byItself ? TRANSIENT_RETRY : phase.retry;
  if (!retry || number > retry.max) return undefined;
  if (at.run.options.forecast) return 0;
  const full = Math.min(LONGEST_PAUSE_MS, retry.backoffMs * retry.factor ** (number - 1));
  // Jitter, so that many items that were turned away together do not come back together.
  const jittered = Math.round(full * (0.5 + Math.random() / 2));
  return Math.max(jittered, failure.retryAfterMs ?? 0);
}
