import { mayBeCrossRun } from '../../model/kind.js';
import { fileClock } from '../../store/file-clock.js';
import { pause } from '../../util/pause.js';
import type { PhaseContext } from '../context/phase-context.js';
import { bodiesOf } from './nested-identity.js';
import type { Found } from './settle.js';

/** What has to be known before an execution, so that what it looked at can be judged afterwards. */
export interface Watch {
  /** On the clock of the file system: what has this time or a later one was changed since. */
  readonly start: number;
  /** Files of `outputs` that were there before, with digests: the execution may read them, and write them anew. */
  readonly before: ReadonlyMap<string, string>;
}

/** Whether what an execution looks at decides anything later. */
export function isWatched(at: PhaseContext): boolean {
  const { policy, phase, scope } = at;
  if (policy.observe.mode === 'off' || !phase.idempotent || !mayBeCrossRun(phase.kind)) return false;
  return policy.scope === 'cross-run' || scope.kept !== undefined || (policy.scope === 'run-only' && isContinued(at));
}

/**
 * A run that continues this one by itself reuses what it can. Calls of agents are worth being watched for that; a
 * script is where the flow says so.
 */
function isContinued({ run: { options }, phase }: PhaseContext): boolean {
  if (options.config.iteration.mode === 'off' || options.source.byName) return false;
  return phase.cache.observe?.mode !== undefined || bodiesOf(phase).some(({ type }) => type === 'task');
}

/** Undefined where nobody watches, and for a call that cannot read files: there are thousands of these in a batch. */
export function beginWatch(
  at: PhaseContext,
  { identity, closed }: Pick<Found, 'identity' | 'closed'>,
): Promise<Watch | undefined> | undefined {
  if (!isWatched(at) || (closed && at.policy.observe.mode !== 'strict')) return undefined;
  return watchFrom(at, identity.outputs);
}

async function watchFrom(at: PhaseContext, outputs: readonly string[]): Promise<Watch | undefined> {
  const before = await filesOf(at, outputs);
  const start = await nextTick(at);
  return start === undefined ? undefined : { start, before };
}

async function filesOf(at: PhaseContext, outputs: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const before = new Map<string, string>();
  for (const pattern of outputs) {
    const found = await at.run.reuse.fingerprints.resolve(`glob:${pattern}`, { ownOutputs: [] });
    const parts = 'value' in found ? (found.value.parts ?? {}) : {};
    for (const [path, digest] of Object.entries(parts)) before.set(path, digest);
  }
  return before;
}

/**
 * Files of the phase before, and folders that the run itself made, may have been written in this very tick of the clock
 * by which files are stamped.
 */
const RECENT_MS = 20;
const LONGEST_WAIT = 25;

/** A moment that no earlier change has as its time. */
async function nextTick({ run }: PhaseContext): Promise<number | undefined> {
  const { clock } = run.options.project;
  const first = fileClock(run.runDir);
  const isQuiet = run.limits.executions.count > 0 && clock.elapsed() - run.reuse.fingerprints.touchedAt > RECENT_MS;
  if (first === undefined || isQuiet) return first;
  for (let waited = 0; waited < LONGEST_WAIT; waited++) {
    await pause(1, run.limits.signal);
    const now = fileClock(run.runDir);
    if (now === undefined || now > first) return now;
  }
  return first;
}
