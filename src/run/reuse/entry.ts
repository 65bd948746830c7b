import type { Result } from '../../model/outcome.js';
import { creatorOf } from '../../store/creator.js';
import type { Entry, KeptEntry } from '../../store/store.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Settled } from '../core/execution.js';
import { type Found, shortest } from './settle.js';

/** The entry that keeps a result. */
export function entryOf(at: PhaseContext, found: Found, { result, clientVersion }: Settled): Entry {
  return {
    format: 1,
    key: found.key,
    identity: found.stored(),
    createdAt: result.madeAt,
    ttlMs: shortest(at.policy.ttlMs, found.ttlMs),
    creator: { ...creatorOf(at.run.options.project.env), client: clientVersion },
    runId: at.run.runId,
    flow: at.scope.flow.name,
    phase: at.phase.id,
    output: result.output,
    files: result.files,
    model: result.model,
    usage: result.cost.usage,
    durationMs: result.cost.durationMs,
    facts: result.facts,
  };
}

/** The result that an entry keeps. Whatever it was found by, it is a result of the declared key. */
export function resultOf(entry: KeptEntry, key: string, seen?: Result['seen']): Result {
  const { createdAt: madeAt, output, files, model, facts, usage, durationMs } = entry;
  const execution = `${madeAt} ${key}`;
  return { key, madeAt, output, cost: { usage, durationMs }, files, model, facts, execution, seen };
}
