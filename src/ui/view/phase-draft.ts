import { addSpent, type ItemCounts, NO_SAVINGS, NOTHING_SPENT, type Savings, spentOn } from '../../model/outcome.js';
import { addSavings } from '../../run/core/budget.js';
import type { ResultLine, StartLine } from '../../run/journal/lines.js';
import type { TextBudget } from './text.js';
import type { PhaseState, PhaseView, UnitView } from './types.js';

interface ViewContext {
  /** Labels of rows, by path. */
  readonly labels: ReadonlyMap<string, string>;
  /** When each phase ended. */
  readonly ends: ReadonlyMap<string, number | undefined>;
  readonly startedAt: number;
  readonly isRunning: boolean;
}

interface Asked {
  readonly digest: string;
  readonly deadline?: number;
}

/** A phase of the flow, while the journal is read. */
export class PhaseDraft {
  readonly id: string;
  asks: Asked | undefined;
  readonly #head: Pick<PhaseView, 'id' | 'kind' | 'needs'>;
  readonly #starts = new Map<string, number>();
  readonly #units = new Map<string, { readonly unit: UnitView; readonly row?: string }>();
  #kind: PhaseView['kind'];
  #startedAt: number | undefined;
  #endedAt: number | undefined;
  #startReason = '';
  #went: Partial<PhaseView> | undefined;
  #spent = NOTHING_SPENT;
  #saved: Savings = NO_SAVINGS;
  #rounds = 0;
  #inRows: ItemCounts = { total: 0, executed: 0, reused: 0, failed: 0 };
  #ms = 0;

  constructor(head: Pick<PhaseView, 'id' | 'kind' | 'needs'>) {
    this.id = head.id;
    this.#head = head;
    this.#kind = head.kind;
  }

  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  start(name: string, { at, reason }: StartLine): void {
    this.#startedAt ??= at;
    this.#startReason ||= reason;
    this.#starts.set(name, at);
  }

  startOf(name: string): number | undefined {
    return this.#starts.get(name);
  }

  has(name: string): boolean {
    return this.#units.has(name);
  }

  /** The phase's own result; called again when a gate has sent it back. Each round was paid for. */
  settle(line: ResultLine, went: Omit<UnitView, 'name' | 'label'>, texts: TextBudget): void {
    this.#rounds += 1;
    this.#kind = line.kind;
    this.#add(line);
    const { attempts, model, optional, items, remark } = line;
    this.#went = {
      ...{ ...went, attempts },
      ...(model !== undefined && { model: texts.short(model, 200) }),
      ...(optional && { optional }),
      ...(items && { items }),
      ...(remark !== undefined && { remark: texts.short(remark) }),
    };
    if (line.status !== 'paused') this.asks = undefined;
  }

  /** Its result in one row of a batch. */
  settleInRow(line: ResultLine): void {
    const { total, executed, reused, failed } = this.#inRows;
    const isFailed = line.status === 'failed' || line.status === 'blocked';
    this.#inRows = {
      total: total + 1,
      executed: executed + Number(line.hit === null && line.attempts > 0),
      reused: reused + Number(line.hit !== null),
      failed: failed + Number(isFailed),
    };
    this.#rounds = 1;
    this.#kind = line.kind;
    this.#ms += line.durationMs;
    this.#startedAt ??= line.at - line.durationMs;
    this.#add(line);
  }

  #add({ usage, saved, at }: ResultLine): void {
    this.#endedAt = at;
    this.#spent = addSpent(this.#spent, spentOn(usage));
    this.#saved = addSavings(this.#saved, saved ?? NO_SAVINGS);
  }

  unit(unit: UnitView, row: string | undefined): void {
    this.#units.set(unit.name, { unit, ...(row !== undefined && { row }) });
    this.#startedAt ??= unit.startedAt ?? unit.endedAt;
  }

  view(context: ViewContext): PhaseView {
    const { saved, spent } = { saved: this.#saved, spent: this.#spent };
    const readyAt = this.#readyAt(context);
    return {
      ...{ ...this.#head, kind: this.#kind },
      ...{ state: 'not-run' as const, reason: '', durationMs: 0, attempts: 0 },
      ...(this.#went ?? this.#openWent(context)),
      rounds: this.#rounds,
      ...((spent.usd !== 0 || spent.tokens > 0) && { spent }),
      ...((saved.usd !== 0 || saved.tokens > 0 || saved.ms > 0) && { saved }),
      ...(readyAt !== undefined && { readyAt }),
      ...(this.#startedAt !== undefined && { startedAt: this.#startedAt }),
      ...(this.#endedAt !== undefined && { endedAt: this.#endedAt }),
      ...(this.asks && { asks: this.asks }),
      units: [...this.#units.values()].map(({ unit, row }) => named(unit, row, context)),
    };
  }

  #readyAt({ ends, startedAt }: ViewContext): number | undefined {
    const needed = this.#head.needs.map((id) => ends.get(id));
    return needed.includes(undefined) ? undefined : Math.max(startedAt, ...(needed as number[]));
  }

  /** For a phase without a result of its own: the sum of its rows, or under way. */
  #openWent({ isRunning }: ViewContext): Partial<PhaseView> {
    const items = this.#inRows;
    if (items.total > 0) {
      const reason = `${items.executed} of ${items.total} executed, ${items.reused} reused`;
      const isReused = items.reused === items.total;
      const state: PhaseState = items.failed > 0 ? 'failed' : 'done';
      return { state, reason, durationMs: this.#ms, items, ...(isReused && { hit: 'cross-run' as const }) };
    }
    if (this.#startedAt === undefined) return { state: isRunning ? 'waiting' : 'not-run' };
    return { state: isRunning ? 'running' : 'unfinished', reason: this.#startReason };
  }
}

function named(unit: UnitView, row: string | undefined, { labels }: ViewContext): UnitView {
  if (row === undefined) return unit;
  const label = labels.get(row) ?? row.slice(0, 13);
  return { ...unit, label: unit.label === '' ? label : `${label} / ${unit.label}` };
}
