import { devNull } from 'node:os';
import type { JsonObject } from '../../model/json.js';
import type { Kind } from '../../model/kind.js';
import type { RunContext } from '../context/context.js';
import { forecastOf, noCounts, type PhaseForecast, type Would } from '../forecast/forecast.js';
import { JournalWriter } from '../journal/writer.js';
import { selectPhases } from '../schedule/selection.js';
import { openRun, type RunRefused } from '../start/open-run.js';
import { KnownCosts, type Price, type RowEstimates } from './known-costs.js';
import { type BatchOptions, runOptionsOf } from './options.js';
import { rowScope } from './row-scope.js';
import type { BatchRow } from './rows/bind-rows.js';

export type Counts = Readonly<Record<Would, number>>;

/** What a batch would do, found by going through all of its rows without executing anything. */
export interface BatchForecast {
  readonly flow: string;
  readonly over: string;
  readonly continues?: { readonly runId: string; readonly notice?: string };
  readonly total: number;
  /** Rows in which nothing would have to be executed. */
  readonly reused: number;
  /** Phases of all rows. What several rows have in common is counted as `run` in the first of them. */
  readonly counts: Counts;
  readonly phases: readonly { readonly id: string; readonly kind: Kind; readonly counts: Counts }[];
  /** What the phases that would run cost when they were last executed. */
  readonly last: Price;
  /** What the rows in which something would be executed are going to cost. */
  readonly estimate: RowEstimates;
  readonly rows: readonly RowForecast[];
  readonly warnings: readonly string[];
}

export interface RowForecast {
  readonly row: number;
  readonly line: number;
  readonly label: string;
  readonly args: JsonObject;
  readonly phases: readonly Pick<PhaseForecast, 'id' | 'would' | 'from' | 'ageMs' | 'reason'>[];
}

export async function forecastBatch(given: BatchOptions): Promise<BatchForecast | RunRefused> {
  const { rows, over, flow } = given;
  const session = await openRun(runOptionsOf(given), { forecastInto: new JournalWriter(devNull) });
  if ('refused' in session) return session;
  const { context, continues, warnings } = session;
  const counts = noCounts();
  const phases = new Map(flow.phases.map(({ id, kind }) => [id, { id, kind, counts: noCounts() }]));
  const costs = new KnownCosts(given);
  const forecasts: RowForecast[] = [];
  // One after the other: whatever the rows share is found in the first one of them.
  for (const row of rows) {
    const forecast = await forecastRow(context, row);
    for (const { id, would } of forecast.phases) {
      counts[would] += 1;
      phases.get(id)!.counts[would] += 1;
      if (would === 'run' || would === 'unknown') costs.add(row, id, would === 'run');
    }
    forecasts.push(forecast);
  }
  session.end({ status: 'success' });
  return {
    flow: flow.name,
    over,
    continues,
    total: rows.length,
    reused: forecasts.filter((row) => isReused(row)).length,
    counts,
    phases: [...phases.values()],
    last: costs.price(),
    estimate: costs.estimates(),
    rows: forecasts,
    warnings,
  };
}

/** Nothing is left to do in it, whatever the other rows come to. */
export function isReused({ phases }: Pick<RowForecast, 'phases'>): boolean {
  return phases.every(({ would }) => would === 'reuse' || would === 'skip');
}

async function forecastRow(context: RunContext, row: BatchRow): Promise<RowForecast> {
  const { flow } = context.options;
  const forget = context.io.secrets.addForNow(flow.args, row.args);
  const scope = rowScope(context, row);
  await context.flows.runScope(scope, context.limits.signal);
  const select = selectPhases(scope, context.options.selection);
  const phases = flow.phases.flatMap(({ id }) => {
    const outcome = scope.outcomes.get(id);
    if (!outcome) return [];
    const { would, reason } = forecastOf(outcome, select(id));
    const { hit, ageMs } = outcome.origin;
    return [{ id, would, from: hit ?? undefined, ageMs, reason: context.io.secrets.mask(reason) }];
  });
  forget();
  return { row: row.row, line: row.line, label: row.label, args: row.publicArgs, phases };
}
