import type { Retry } from '../model/flow.js';
import { addUsage } from '../model/outcome.js';
import { pause } from '../util/pause.js';
import { notStarted } from './cancelled.js';
import { type Execution, failedBefore } from './execution.js';
import type { PhaseContext } from './phase-context.js';

/** Without a word about retries, an agent call that met a passing provider error is tried three times more. */
const TRANSIENT_RETRY: Retry = { max: 3, backoffMs: 1_000, factor: 3 };
const LONGEST_PAUSE_MS = 5 * 60_000;

/** Failures that another attempt cannot change. */
const FINAL = new Set(['interrupted', 'budget', 'frozen', 'in-doubt', 'no-runner', 'unresolved', 'bad-input', 'limit']);

export interface Attempt extends Execution {
  /** The agent has acted on the world already: nothing is repeated behind a person's back. */
  readonly usedTools?: boolean;
}

/** Runs attempts until one succeeds or none is left. What failed attempts cost counts too. */
export async function withRetries(
  at: PhaseContext,
  unit: string | undefined,
  calls: 'agent' | 'process',
  attempt: () => Promise<Attempt>,
): Promise<Execution> {
  const { run } = at;
  let spent: Execution | undefined;
  for (let number = 1; ; number++) {
    if (at.signal.aborted) return spent ?? failedBefore(notStarted(at));
    const result = await attempt();
    const total = spent ? { ...result, usage: addUsage(spent.usage, result.usage), attempts: number } : result;
    // What was not let in has not been attempted.
    const attempts = result.attempts === 0 ? number - 1 : number;
    if (result.status !== 'failed' || !result.failure) {
      return total.attempts === attempts ? total : { ...total, attempts };
    }
    const delayMs = nextDelay(at, calls, result, number);
    run.journal.write({
      type: 'attempt',
      at: run.options.project.clock.now(),
      phase: at.path,
      unit,
      attempt: number,
      durationMs: result.durationMs,
      usage: result.usage,
      failure: run.secrets.maskValue(result.failure as never),
      inputs: run.secrets.maskValue(result.inputs),
      partial: result.output.text === '' ? undefined : run.secrets.mask(result.output.text.slice(-4_000)),
      retryInMs: delayMs,
    });
    if (delayMs === undefined || at.scope.admission.closed) return { ...total, attempts: number };
    run.emit({
      type: 'retry',
      phase: at.path,
      unit,
      attempt: number,
      delayMs,
      error: run.secrets.mask(result.failure.message),
    });
    if ((await pause(delayMs, at.signal)) === 'aborted') return { ...total, attempts: number };
    spent = total;
  }
}

/** How long to wait before the next attempt; undefined when there is none. */
function nextDelay(at: PhaseContext, calls: 'agent' | 'process', result: Attempt, number: number): number | undefined {
  const { phase } = at;
  const failure = result.failure!;
  if (!phase.idempotent || FINAL.has(failure.code)) return undefined;
  const byItself = phase.retry === undefined && calls === 'agent';
  if (byItself && (!failure.transient || result.usedTools)) return undefined;
  const retry = byItself ? TRANSIENT_RETRY : phase.retry;
  if (!retry || number > retry.max) return undefined;
  const full = Math.min(LONGEST_PAUSE_MS, retry.backoffMs * retry.factor ** (number - 1));
  // Jitter, so that many items that were turned away together do not come back together.
  const jittered = Math.round(full * (0.5 + Math.random() / 2));
  return Math.max(jittered, Math.min(LONGEST_PAUSE_MS, failure.retryAfterMs ?? 0));
}
