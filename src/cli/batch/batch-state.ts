import type { RunEvent } from '../../model/event.js';
import { addSpent, NO_SAVINGS, NOTHING_SPENT, type Savings, type Spent } from '../../model/outcome.js';
import { addSavings } from '../../run/core/budget.js';
import { oneLine, truncate } from '../../util/terminal-text.js';
import { splitRowPath } from './row-names.js';

/** The state behind the view of a batch: counts, and the rows that are under way. */
export interface BatchState {
  runId: string;
  flow: string;
  startedAt: number;
  total: number;
  continues?: string;
  ended: number;
  done: number;
  failed: number;
  reused: number;
  paused: number;
  spent: Spent;
  saved: Savings;
  /** By path, in the order in which they started. */
  active: Map<string, ActiveRow>;
  /** When the last rows that executed something ended, the oldest first: for the time that is left. */
  lately: number[];
  /** Rows that failed, in the order in which they ended. */
  failures: RowEnd[];
  /** The last rows that executed something and succeeded, the newest first. */
  recent: RowEnd[];
  /** The last usage limit; it ends at its time. */
  limit?: Extract<RunEvent, { readonly type: 'limit' }>;
  warnings: string[];
}

interface ActiveRow {
  readonly label: string;
  readonly startedAt: number;
  phase?: string;
}

export type RowEnd = Extract<RunEvent, { readonly type: 'row-end' }>;

/** The view keeps the details of this many rows: no screen shows more. */
const REMEMBERED = 64;

export function createBatchState(): BatchState {
  return {
    runId: '',
    flow: '',
    startedAt: 0,
    total: 0,
    ended: 0,
    done: 0,
    failed: 0,
    reused: 0,
    paused: 0,
    spent: NOTHING_SPENT,
    saved: NO_SAVINGS,
    active: new Map(),
    lately: [],
    failures: [],
    recent: [],
    warnings: [],
  };
}

export function applyBatchEvent(state: BatchState, event: RunEvent): void {
  switch (event.type) {
    case 'run-start':
      state.runId = event.runId;
      state.flow = event.flow;
      state.startedAt = event.at;
      state.total = event.rows ?? 0;
      state.lately = [event.at];
      if (event.continues) state.continues = event.continues.runId;
      return;
    case 'warning':
      state.warnings.push(
        event.phase === undefined ? event.message : `${phaseName(state, event.phase)}: ${event.message}`,
      );
      return;
    case 'limit':
      state.limit = event;
      return;
    case 'row-start':
      state.active.set(event.path, { label: event.label, startedAt: event.at });
      return;
    case 'phase-start': {
      const place = placeOf(state, event.phase);
      if (place) place.row.phase = place.phase;
      return;
    }
    case 'row-end':
      endRow(state, event);
      return;
    default:
  }
}

function endRow(state: BatchState, event: RowEnd): void {
  state.active.delete(event.path);
  state.ended += 1;
  if (event.status === 'success') state.done += 1;
  if (event.status === 'failed' || event.status === 'blocked') state.failed += 1;
  if (event.status === 'paused') state.paused += 1;
  if (event.status === 'success' && event.reuse.executed === 0) state.reused += 1;
  state.spent = addSpent(state.spent, event.spent);
  state.saved = addSavings(state.saved, event.saved);
  remember(state, event);
}

function remember(state: BatchState, event: RowEnd): void {
  if (event.status === 'failed' || event.status === 'blocked') {
    state.failures.push(event);
    if (state.failures.length > REMEMBERED) state.failures.shift();
  }
  if (event.reuse.executed === 0) {
    // Only rows that execute something give the pace: it is measured from the first of them.
    if (state.lately.length === 1) state.lately = [event.at];
    return;
  }
  state.lately.push(event.at);
  if (state.lately.length > REMEMBERED) state.lately.shift();
  if (event.status !== 'success') return;
  state.recent.unshift(event);
  if (state.recent.length > REMEMBERED) state.recent.pop();
}

/** The row that a phase belongs to, and the phase's name in it. */
function placeOf(state: BatchState, path: string): { readonly row: ActiveRow; readonly phase: string } | undefined {
  const split = splitRowPath(path);
  const row = split && state.active.get(split.row);
  return row && { row, phase: split.phase };
}

/** `sea level: review`; the path where the row is not known. */
export function phaseName(state: BatchState, path: string): string {
  const place = placeOf(state, path);
  return place ? `${truncate(oneLine(place.row.label), 60)}: ${place.phase}` : path;
}

/** The time that is left, at the pace of the last rows that executed something; undefined while there is none. */
export function timeLeft(state: BatchState, now: number): number | undefined {
  const { lately, total, ended } = state;
  if (lately.length < 2 || ended >= total) return undefined;
  return ((now - lately[0]!) / (lately.length - 1)) * (total - ended);
}
