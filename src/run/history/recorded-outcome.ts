import type { ShownOutcome } from '../../model/outcome.js';
import { shownOutput } from '../core/output-folder.js';
import type { ResultLine } from '../journal/lines.js';

/** How a phase ended, from its line in the journal. */
export function recordedOutcome(line: ResultLine, root: string): ShownOutcome {
  const { phase, kind, status, hit, madeAt, at, files = [] } = line;
  const { reason, key, output, attempts, durationMs, usage, saved, model, failure, optional, items, observed } = line;
  const { shared, remark, unkeepable } = line;
  const ageMs = hit !== null && madeAt !== undefined ? Math.max(0, at - madeAt) : undefined;
  return {
    id: phase,
    kind,
    status,
    cacheHit: hit,
    ageMs,
    shared,
    reason,
    key,
    output: shownOutput(output, root),
    files,
    attempts,
    durationMs,
    usage,
    saved,
    model,
    failure,
    optional,
    items,
    unkeepable,
    observed,
    remark,
    ...(status === 'done' && hit === null && attempts === 0 && { noWork: true }),
  };
}
