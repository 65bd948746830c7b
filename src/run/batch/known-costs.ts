import { batchDigest } from '../core/run-group.js';
import { type LastCost, lastCosts } from '../history/last-costs.js';
import { listRuns } from '../history/list-runs.js';
import { lastRunId } from '../history/runs-folder.js';
import { type Estimate, EstimateSum, type UsualCost, usualCost } from './estimate.js';
import type { BatchOptions } from './options.js';
import { rowPath } from './row-scope.js';
import type { BatchRow } from './rows/bind-rows.js';

/** `known`: how many executions have a known cost; the others count as nothing. `usd`: null without prices. */
export interface Price {
  readonly usd: number | null;
  readonly tokens: number;
  readonly ms: number;
  readonly known: number;
}

/** Rows that the last batch did not have, and rows that it had; `by`: how many rows the new ones are estimated from. */
export interface RowEstimates {
  readonly fresh: Estimate;
  readonly again: Estimate;
  readonly by: number;
}

type Known = Pick<BatchOptions, 'project' | 'flow' | 'source' | 'over'>;

/**
 * What executions cost, going by the last batch over the same rows, else by the flow's last batch, else by its last
 * run: the row's own cost, or for a new row what the others have cost.
 */
export class KnownCosts {
  readonly #ofRows: ReadonlyMap<string, LastCost>;
  readonly #seen: ReadonlySet<string>;
  readonly #usual: ReadonlyMap<string, UsualCost>;
  readonly #by: number;
  readonly #fresh = new EstimateSum();
  readonly #again = new EstimateSum();
  #usd: number | undefined = 0;
  #tokens = 0;
  #ms = 0;
  #known = 0;

  constructor(batch: Known) {
    const { project, over } = batch;
    const flowId = flowIdOf(batch);
    const sameRows = lastRunId(project, flowId, batchDigest(over));
    this.#ofRows = lastCosts(project, sameRows);
    this.#seen = new Set([...this.#ofRows.keys()].flatMap((path) => ROW.exec(path)?.[1] ?? []));
    const ofBatch = sameRows === undefined ? lastCosts(project, lastBatchOf(batch)) : this.#ofRows;
    const byId = byPhase(ofBatch);
    this.#by = Math.max(0, ...[...byId.values()].map((costs) => costs.length));
    for (const [path, cost] of lastCosts(project, lastRunId(project, flowId))) {
      if (!byId.has(path)) byId.set(path, [cost]);
    }
    this.#usual = new Map([...byId].map(([id, costs]) => [id, usualCost(costs)]));
  }

  /** `isCertain`: the phase would run; else it depends on what runs before it. */
  add(row: BatchRow, id: string, isCertain: boolean): void {
    const path = rowPath(row);
    const own = this.#ofRows.get(`${path}/${id}`);
    const cost = own ? usualCost([own]) : this.#usual.get(id);
    // A row that nobody has seen has all of its phases before it.
    const isNew = !this.#seen.has(path);
    (isNew ? this.#fresh : this.#again).add(row.row, cost, isCertain || isNew);
    if (!cost || !isCertain) return;
    this.#known += 1;
    this.#tokens += cost.tokens.mean;
    this.#ms += cost.ms.mean;
    this.#usd = this.#usd === undefined || cost.usd === undefined ? undefined : this.#usd + cost.usd.mean;
  }

  price(): Price {
    const { round } = Math;
    return { usd: this.#usd ?? null, tokens: round(this.#tokens), ms: round(this.#ms), known: this.#known };
  }

  estimates(): RowEstimates {
    return { fresh: this.#fresh.estimate(), again: this.#again.estimate(), by: this.#by };
  }
}

const ROW = /^(rows\/[^/]+)\//;

function flowIdOf({ flow, source }: Known): string {
  return flow.file ?? source.ref;
}

/** Over whichever rows. */
function lastBatchOf(batch: Known): string | undefined {
  const runs = listRuns(batch.project, { flow: flowIdOf(batch) });
  return runs.find(({ run }) => run.mode === 'batch')?.runId;
}

/** By the ids of the flow's own phases: those of nested flows are in theirs. */
function byPhase(costs: ReadonlyMap<string, LastCost>): Map<string, LastCost[]> {
  const byId = new Map<string, LastCost[]>();
  for (const [path, cost] of costs) {
    const id = /^rows\/[^/]+\/([^/]+)$/.exec(path)?.[1];
    if (id === undefined) continue;
    const list = byId.get(id) ?? [];
    list.push(cost);
    byId.set(id, list);
  }
  return byId;
}
