import type { Failure } from '../model/failure.js';
import { mayBeCrossRun } from '../model/kind.js';
import type { PhaseOutcome, Status } from '../model/outcome.js';
import { keysOf, type Settled } from './execution.js';
import type { ResultLine } from './journal/lines.js';
import type { LinePlace } from './journal/writer.js';
import type { PhaseContext } from './phase-context.js';

/** The journal's line for a settled unit. */
export function recordUnit(at: PhaseContext, unit: string, settled: Settled): LinePlace {
  return at.run.journal.write(resultLine(at, settled, unit), { hold: settled.hit !== null });
}

/** The journal's line for a settled phase. A reused one may be lost in a crash: it would be reused again. */
export function recordPhase(at: PhaseContext, settled: Settled): LinePlace {
  const place = at.run.journal.write(resultLine(at, settled, undefined), { hold: settled.hit !== null });
  if (!at.phase.idempotent && settled.hit === null) at.run.journal.sync();
  return place;
}

/** A phase that did not come to run at all. */
export function recordUnrun(at: PhaseContext, status: Status, reason: string, failure?: Failure): LinePlace {
  const now = at.run.options.project.clock.now();
  return at.run.journal.write(
    {
      type: 'phase',
      at: now,
      phase: at.path,
      kind: at.phase.kind,
      status,
      reason,
      hit: null,
      output: { text: '', json: null },
      attempts: 0,
      durationMs: 0,
      usage: { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, usd: 0 },
      failure,
    },
    { hold: true },
  );
}

export function resultLine(at: PhaseContext, settled: Settled, unit: string | undefined): ResultLine {
  const { secrets, options } = at.run;
  const masked = <T>(value: T): T => (secrets.any ? (secrets.maskValue(value as never) as T) : value);
  const executed = settled.hit === null;
  const output = secrets.any ? secrets.maskOutput(settled.output) : settled.output;
  return {
    type: unit === undefined ? 'phase' : 'unit',
    at: options.project.clock.now(),
    phase: at.path,
    kind: at.phase.kind,
    unit,
    status: settled.status,
    reason: masked(settled.reason),
    key: settled.key,
    runKey: settled.runKey,
    hit: settled.hit,
    madeAt: executed ? undefined : settled.madeAt,
    output,
    masked: output === settled.output ? undefined : true,
    files: settled.files.length === 0 ? undefined : settled.files,
    attempts: settled.attempts,
    durationMs: Math.round(settled.durationMs),
    usage: settled.usage,
    saved: settled.saved,
    cost: executed && settled.cost.usage === settled.usage ? undefined : settled.cost,
    model: settled.model,
    failure: settled.failure ? masked(settled.failure) : undefined,
    items: settled.items,
    identity: executed ? settled.identity : undefined,
    inputs: masked(settled.inputs),
    facts: masked(settled.facts),
    unkeepable: masked(settled.unkeepable),
    idempotent: at.phase.idempotent ? undefined : false,
    deciding: mayBeCrossRun(at.phase.kind) ? undefined : true,
    remark: masked(settled.remark),
  };
}

export function outcomeOf(at: PhaseContext, settled: Settled): PhaseOutcome {
  return {
    id: at.phase.id,
    kind: at.phase.kind,
    status: settled.status,
    cacheHit: settled.hit,
    ageMs: settled.ageMs,
    reason: settled.reason,
    key: settled.key,
    output: settled.output,
    files: settled.files,
    attempts: settled.attempts,
    durationMs: settled.durationMs,
    usage: settled.usage,
    saved: settled.saved,
    cost: settled.cost,
    model: settled.model,
    failure: settled.failure,
    items: settled.items,
    unkeepable: settled.unkeepable,
    unitKeys: keysOf(settled),
    remark: settled.remark,
  };
}
