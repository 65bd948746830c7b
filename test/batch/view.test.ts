import { describe, expect, it } from 'vitest';
import { applyBatchEvent, type BatchState, createBatchState, timeLeft } from '../../src/cli/batch/batch-state.js';
import { drawBatch } from '../../src/cli/batch/draw-batch.js';
import { plainBatchLines } from '../../src/cli/batch/plain.js';
import { createStyle } from '../../src/cli/terminal/style.js';
import type { RunEvent, RunEventBody, RunStatus } from '../../src/model/event.js';
import { displayWidth } from '../../src/util/terminal-text.js';

const style = createStyle(false);
const at = (time: number, body: RunEventBody) => ({ ...body, at: time, runId: 'r' }) as RunEvent;
const start = at(0, { type: 'run-start', flow: 'research', phases: [], rows: 10 });
const rowStart = (row: number, time: number) =>
  at(time, { type: 'row-start', row, label: `Topic ${row}`, path: `rows/${row}` });
const rowEnd = (row: number, time: number, status: RunStatus, executed: number) =>
  at(time, {
    type: 'row-end',
    row,
    label: `Topic ${row}`,
    path: `rows/${row}`,
    status,
    spent: { usd: executed * 0.25, tokens: executed * 100 },
    saved: { usd: executed === 0 ? 2 : 0, tokens: 0, ms: 0 },
    durationMs: 1_000,
    reuse: { executed, run: 0, crossRun: executed === 0 ? 2 : 0 },
    file: `out/topic-${row}.md`,
    ...(status === 'failed' ? { error: { phase: 'work', code: 'exit', message: 'sh exited with status 3' } } : {}),
  });

function stateAfter(...events: RunEvent[]): BatchState {
  const state = createBatchState();
  for (const event of events) applyBatchEvent(state, event);
  return state;
}

describe('the view of a batch', () => {
  const state = stateAfter(
    start,
    ...[1, 2, 3, 4, 5, 6].map((row) => rowStart(row, 0)),
    rowEnd(1, 1_000, 'success', 1),
    rowEnd(2, 2_000, 'success', 0),
    rowEnd(3, 3_000, 'failed', 1),
    at(3_500, { type: 'phase-start', phase: 'rows/4/work', reason: 'first time' }),
  );

  it('shows done, failed, reused, spent, saved, the time left and what is under way', () => {
    const lines = drawBatch(state, { style, columns: 100, rows: 24, now: 4_000, tick: 0 });
    expect(lines[0]).toMatch(/^research █+░+ 3 of 10 · 14s left$/);
    expect(displayWidth(lines[0]!)).toBe(99);
    expect(lines[1]).toBe('  2 done · 1 failed · 1 reused · spent $0.50 · saved $2.00 · 4s');
    expect(lines.slice(2)).toEqual([
      '  ✖ Topic 3   work: sh exited with status 3',
      '  ⠋ Topic 4   4s · work',
      '  ⠋ Topic 5   4s',
      '  ⠋ Topic 6   4s',
      '  ✔ Topic 1   1s · $0.25 → out/topic-1.md',
    ]);
  });

  it('never is wider or higher than the terminal', () => {
    for (const columns of [20, 40, 60, 200]) {
      for (const rows of [4, 5, 24]) {
        const lines = drawBatch(state, { style, columns, rows, now: 4_000, tick: 3 });
        expect(lines.length).toBeLessThanOrEqual(rows);
        for (const line of lines) expect(displayWidth(line)).toBeLessThan(columns);
      }
    }
  });

  it('fills the screen that it has with rows, and says how many it leaves out', () => {
    const many = stateAfter(at(0, { type: 'run-start', flow: 'f', phases: [], rows: 500 }));
    for (let row = 1; row <= 100; row++) applyBatchEvent(many, rowStart(row, 0));
    for (const rows of [10, 24, 49]) {
      const lines = drawBatch(many, { style, columns: 80, rows, now: 1_000, tick: 0 });
      expect(lines).toHaveLength(rows);
      expect(lines.at(-1)).toBe(`    … ${100 - (rows - 3)} more under way`);
    }
    for (let row = 1; row <= 99; row++) applyBatchEvent(many, rowEnd(row, 10, 'success', 1));
    expect(drawBatch(many, { style, columns: 80, rows: 49, now: 1_000, tick: 0 })).toHaveLength(49);
  });

  it('leaves reused rows out of the time left', () => {
    const half = stateAfter(at(0, { type: 'run-start', flow: 'f', phases: [], rows: 40 }));
    for (let row = 1; row <= 10; row++) applyBatchEvent(half, rowEnd(row, 500, 'success', 0));
    expect(timeLeft(half, 600)).toBeUndefined();
    // One row a second, and between any two of them one that costs nothing.
    for (let row = 11; row <= 30; row++) {
      applyBatchEvent(half, rowEnd(row, 500 + (row - 10) * 500, 'success', row % 2 === 1 ? 1 : 0));
    }
    expect(timeLeft(half, 10_500)).toBe(10_000);
  });

  it('takes the pace of the last rows, not of the whole batch', () => {
    const events = [start, rowStart(1, 0)];
    const long = stateAfter(at(0, { type: 'run-start', flow: 'f', phases: [], rows: 1_000 }), ...events.slice(1));
    // Cached rows first, in no time; then rows that take a second each.
    for (let row = 1; row <= 500; row++) applyBatchEvent(long, rowEnd(row, row, 'success', 0));
    for (let row = 501; row <= 600; row++) applyBatchEvent(long, rowEnd(row, (row - 500) * 1_000, 'success', 1));
    expect(timeLeft(long, 100_000)! / 1_000).toBeGreaterThan(390);
    expect(timeLeft(stateAfter(start), 5)).toBeUndefined();
  });

  it('writes a line for each row that ran or failed, and none for each that was reused', () => {
    const lines = plainBatchLines(style);
    const fresh = createBatchState();
    const told = [
      start,
      rowEnd(1, 10, 'success', 1),
      rowEnd(2, 20, 'success', 0),
      rowEnd(3, 30, 'failed', 1),
      rowEnd(4, 9_000, 'success', 0),
    ].flatMap((event) => {
      applyBatchEvent(fresh, event);
      return lines(fresh, event);
    });
    expect(told).toEqual([
      'research r  10 rows',
      '✔ Topic 1  1 executed · $0.25 · 1s → out/topic-1.md',
      '✖ Topic 3 failed: work: sh exited with status 3  1 executed · $0.25 · 1s → out/topic-3.md',
      '… 4 of 10 rows, 2 reused',
    ]);
  });
});
