import type { JsonValue } from '../../model/json.js';
import { NO_USAGE, type Output, type Savings } from '../../model/outcome.js';
import { savingsOf } from '../budget.js';
import type { Settled } from '../execution.js';
import { ageReason } from '../journal/reused-line.js';
import type { KeptRows } from './kept-rows.js';

const NO_FILES: readonly [] = [];

/** Items have these columns beside those that all rows have. */
export interface UnitColumns {
  readonly facts?: readonly (JsonValue | null)[];
}

/**
 * An item of a roll that stands, as a result that was found in the store. What hardly anybody asks of a thousand of them is
 * put together when somebody does.
 */
export class TakenUnit implements Settled {
  readonly cost: Settled['cost'];
  readonly saved: Savings;

  constructor(
    private readonly rows: KeptRows<UnitColumns>,
    private readonly row: number,
    private readonly now: number,
  ) {
    this.cost = rows.cost(row);
    this.saved = savingsOf(this.cost);
  }

  get status() {
    return 'done' as const;
  }

  get output(): Output {
    return this.rows.outputs[this.row]!;
  }

  get usage() {
    return NO_USAGE;
  }

  get durationMs() {
    return 0;
  }

  get attempts() {
    return 0;
  }

  get files() {
    return NO_FILES;
  }

  get model(): string | undefined {
    return this.rows.columns.model?.[this.row] ?? undefined;
  }

  get facts(): JsonValue | undefined {
    return this.rows.columns.facts?.[this.row] ?? undefined;
  }

  get hit() {
    return 'cross-run' as const;
  }

  get reason(): string {
    return ageReason(this.madeAt, this.now);
  }

  get key(): string {
    return this.rows.key(this.row);
  }

  get runKey(): string {
    return this.key;
  }

  get madeAt(): number {
    return this.rows.columns.madeAt[this.row]!;
  }

  get ageMs(): number {
    return this.rows.age(this.row, this.now);
  }
}
