import type { JsonObject } from '../../../model/json.js';

export const ROW_FORMATS = ['txt', 'csv', 'tsv', 'jsonl', 'json', 'yaml'] as const;
export type RowFormat = (typeof ROW_FORMATS)[number];

/** One row as its file has it; not yet fitted to the flow's arguments. */
export interface RawRow {
  /** From 1. */
  readonly line: number;
  readonly values: JsonObject;
}

/** Something wrong with a row (or with the whole file), and where. */
export interface RowProblem {
  readonly line: number;
  readonly message: string;
  readonly hint?: string;
}

export interface RawRows {
  readonly rows: readonly RawRow[];
  readonly problems: readonly RowProblem[];
}

/** A row that is one bare value is the value of this argument. */
export interface ReadRowsOptions {
  readonly as: string;
}
