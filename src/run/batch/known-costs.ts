import { batchDigest } from '../core/run-group.js';
import { type LastCost, lastCosts } from '../history/last-costs.js';
import { lastRunId } from '../history/runs-folder.js';
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

/**
 * What executions cost in the last batch over the same rows, else in the last run of the flow. A new row costs the mean
 * of the others.
 */
export class KnownCosts {
  readonly #ofRows: ReadonlyMap<string, LastCost>;
  readonly #usual: ReadonlyMap<string, LastCost>;
  #usd: number | undefined = 0;
  #tokens = 0;
  #ms = 0;
  #known = 0;

  constructor({ project, flow, source, over }: Pick<BatchOptions, 'project' | 'flow' | 'source' | 'over'>) {
    const flowId = flow.file ?? source.ref;
    this.#ofRows = lastCosts(project, lastRunId(project, flowId, batchDigest(over)));
    this.#usual = new Map([...lastCosts(project, lastRunId(project, flowId)), ...means(this.#ofRows)]);
  }

  add(row: BatchRow, id: string): void {
    const cost = this.#ofRows.get(`${rowPath(row)}/${id}`) ?? this.#usual.get(id);
    if (!cost) return;
    this.#known += 1;
    this.#tokens += cost.tokens;
    this.#ms += cost.ms;
    this.#usd = this.#usd === undefined || cost.usd === undefined ? undefined : this.#usd + cost.usd;
  }

  price(): Price {
    const { round } = Math;
    return { usd: this.#usd ?? null, tokens: round(this.#tokens), ms: round(this.#ms), known: this.#known };
  }
}

/** By the ids of the flow's own phases: those of nested flows are in theirs. */
function means(costs: ReadonlyMap<string, LastCost>): Map<string, LastCost> {
  const sums = new Map<string, { usd: number | undefined; tokens: number; ms: number; count: number }>();
  for (const [path, cost] of costs) {
    const id = /^rows\/[^/]+\/([^/]+)$/.exec(path)?.[1];
    if (id === undefined) continue;
    const sum = sums.get(id) ?? { usd: 0, tokens: 0, ms: 0, count: 0 };
    sum.usd = sum.usd === undefined || cost.usd === undefined ? undefined : sum.usd + cost.usd;
    sum.tokens += cost.tokens;
    sum.ms += cost.ms;
    sum.count += 1;
    sums.set(id, sum);
  }
  return new Map(
    [...sums].map(([id, { usd, tokens, ms, count }]) => [
      id,
      { usd: usd === undefined ? undefined : usd / count, tokens: tokens / count, ms: ms / count },
    ]),
  );
}
