import type { SeenInputs } from '../../model/observation.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { ResultLine } from '../journal/lines.js';
import { bringBack } from './bring-back.js';
import { type LookUp, NOT_SEEN, NOTHING, OUTPUT_GONE } from './from-store.js';
import { refusesEarlier } from './reuse-rules.js';
import { changedSinceSeen } from './seen-inputs.js';
import { type Found, fromLine, reusedAgain } from './settle.js';

/**
 * Reuses an execution of this run (finished, or under way in another row) or of the run that this one continues; a
 * result in the store is not looked for there. If there is none, it calls `begin` with no `await` in between, so that
 * of two rows only one computes. Without a promise where nobody else has asked for it.
 */
export function fromThisRun(at: PhaseContext, found: Found, isInStore: boolean): LookUp | Promise<LookUp> {
  const isKnown = at.run.reuse.shared.knows(found.runKey);
  return isKnown ? fromOthers(at, found, isInStore) : fromJournal(at, found, isInStore);
}

async function fromOthers(at: PhaseContext, found: Found, isInStore: boolean): Promise<LookUp> {
  const { shared } = at.run.reuse;
  for (let under = shared.underWay(found.runKey); under; under = shared.underWay(found.runKey)) {
    const settled = await under;
    if (settled) return { settled: reusedAgain(at, settled) };
  }
  const recent = shared.recent(found.runKey);
  if (!recent) return fromJournal(at, found, isInStore);
  const { seen } = recent.result;
  if (!isChecked(at, seen)) return { settled: reusedAgain(at, recent) };
  shared.begin(found.runKey);
  const changed = await changedSinceSeen(at, seen);
  return changed === undefined ? { settled: reusedAgain(at, recent) } : { miss: changed };
}

function fromJournal(at: PhaseContext, found: Found, isInStore: boolean): LookUp | Promise<LookUp> {
  const known = recorded(at, found, isInStore);
  at.run.reuse.shared.begin(found.runKey);
  return 'line' in known ? fromRecorded(at, found, known.line) : known;
}

function recorded(
  at: PhaseContext,
  { runKey, ttlMs, closed }: Found,
  isInStore: boolean,
): { readonly line: ResultLine } | { readonly miss: string | undefined } {
  const { run } = at;
  const place = run.reuse.shared.place(runKey);
  const line = place
    ? run.io.readBack(place)
    : at.policy.sharesRun || isInStore
      ? undefined
      : run.reuse.prior.find(runKey);
  // Of a side effect, its ledger has been asked already.
  if (!line || line.effect) return NOTHING;
  if (line.masked && at.phase.idempotent) return { miss: 'its output held a secret and was not written down' };
  if (at.policy.observe.mode === 'strict' && !line.seen?.set.complete) return { miss: NOT_SEEN };
  const refused = place ? undefined : refusesEarlier(at, line, { ttlMs, closed });
  return refused === undefined ? { line } : { miss: refused };
}

async function fromRecorded(at: PhaseContext, found: Found, line: ResultLine): Promise<LookUp> {
  const changed = isChecked(at, line.seen) ? await changedSinceSeen(at, line.seen) : undefined;
  if (changed !== undefined) return { miss: changed };
  const output = at.run.io.outputs.link(line.output);
  const problem = output ? await bringBack(at, found, line.files) : OUTPUT_GONE;
  return output && problem === undefined ? { settled: fromLine(at, { ...line, output }) } : { miss: problem };
}

/** Whether a result is held against what is now at the paths that it was made from. */
function isChecked({ policy, run }: PhaseContext, seen: SeenInputs | undefined): seen is SeenInputs {
  return seen !== undefined && (policy.scope === 'cross-run' || run.reuse.prior.how === 'auto');
}
