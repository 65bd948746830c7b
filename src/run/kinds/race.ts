import type { Failure } from '../../model/failure.js';
import type { RacePhase } from '../../model/flow.js';
import type { PhaseContext } from '../context/phase-context.js';
import { LOST_RACE } from '../core/cancelled.js';
import { type Execution, failedBefore, pureResult, type Settled } from '../core/execution.js';
import { withOrdinals } from '../reuse/ordinals.js';
import { partsOfAll, runBroken, runUnit, runWhole } from '../units/run-unit.js';
import { UnitTally } from '../units/unit-tally.js';
import type { KindHandler } from './kind.js';

export const raceKind: KindHandler<RacePhase> = {
  run: async (at) => {
    const all = await partsOfAll(at, specsOf(at));
    return 'failure' in all ? runBroken(at, all.failure) : runWhole(at, { ...all, execute: () => race(at) });
  },
};

function specsOf(at: PhaseContext<RacePhase>) {
  return withOrdinals(
    at,
    at.phase.branches.map(({ id, body, cwd }) => ({ label: id, body, cwd })),
  );
}

async function race(at: PhaseContext<RacePhase>): Promise<Execution> {
  const { clock } = at.run.options.project;
  const startedAt = clock.elapsed();
  const stop = new AbortController();
  const inRace = { ...at, signal: AbortSignal.any([at.signal, stop.signal]) };
  let winner: Settled | undefined;
  const tally = new UnitTally();
  const failures: string[] = [];
  const specs = specsOf(at);
  const runners = specs.map(async (spec) => {
    const settled = await runUnit(inRace, spec);
    tally.add(settled);
    if (settled.status !== 'done') {
      if (settled.failure && !winner) failures.push(`${spec.label}: ${settled.failure.message}`);
      return undefined;
    }
    if (winner) return undefined;
    winner = settled;
    if (at.phase.cancelLosers) stop.abort(LOST_RACE);
    return spec.label;
  });
  const first = await firstOf(runners);
  const all = Promise.all(runners);
  // Cancelled losers are waited for: their processes must be gone. The run waits for the others at its end.
  if (at.phase.cancelLosers || first === undefined) await all;
  else {
    const rest = all.finally(() => at.run.limits.background.delete(rest));
    at.run.limits.background.add(rest);
  }
  const totals = tally.totals(clock.elapsed() - startedAt);
  if (!winner || first === undefined) {
    const failure: Failure = at.signal.aborted
      ? { code: 'interrupted', message: 'interrupted' }
      : { code: 'items', message: `no branch succeeded: ${failures.join('; ')}` };
    return { ...failedBefore(failure), ...totals };
  }
  const { output, model, unkeepable } = winner.result;
  return pureResult(output, {
    ...totals,
    model,
    unkeepable,
    remark: `${first} won`,
    facts: { winner: first },
  });
}

/** The first that is not undefined; undefined when all are. */
function firstOf<T>(promises: readonly Promise<T | undefined>[]): Promise<T | undefined> {
  return new Promise((resolve) => {
    let left = promises.length;
    for (const promise of promises) {
      void promise.then((value) => {
        left -= 1;
        if (value !== undefined || left === 0) resolve(value);
      });
    }
  });
}
