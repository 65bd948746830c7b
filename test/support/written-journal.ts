import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { NO_SAVINGS, NO_USAGE } from '../../src/model/outcome.js';
import type { EndLine, JournalLine, ResultLine, RowLine, RunLine } from '../../src/run/journal/lines.js';

export const RUN_ID = '20260101-120000-aaaaaa';
export const STARTED_AT = Date.UTC(2026, 0, 1, 12);

/** Writes a journal that no run made: one of any size, or with names and texts that no flow could have. */
export function writeJournal(root: string, lines: Iterable<JournalLine>, runId = RUN_ID): string {
  const folder = join(root, '.pi/taskflows/runs', runId);
  const path = join(folder, 'journal.jsonl');
  mkdirSync(folder, { recursive: true });
  let text = '';
  for (const line of lines) {
    text += `${JSON.stringify(line)}\n`;
    if (text.length < 1 << 20) continue;
    appendFileSync(path, text);
    text = '';
  }
  appendFileSync(path, text);
  return path;
}

export function runLine(
  phases: readonly { id: string; needs?: string[]; kind?: string }[],
  more: Partial<RunLine> = {},
) {
  return {
    ...{ type: 'run', at: STARTED_AT, version: 1, runId: RUN_ID, flow: 'made', ref: 'made.yaml', byName: false },
    ...{ mode: 'run', args: {}, argsDigest: 'x', taskflow: '0', owner: { pid: 999_999 } },
    phases: phases.map(({ id, needs = [], kind = 'script' }) => ({ id, kind, needs })),
    ...more,
  } as unknown as RunLine;
}

export function resultLine(phase: string, more: Partial<ResultLine> = {}): ResultLine {
  return {
    ...{
      type: 'phase',
      at: STARTED_AT + 1_000,
      phase,
      kind: 'script',
      status: 'done',
      reason: 'first time',
      hit: null,
    },
    ...{ output: { text: '', json: null }, attempts: 1, durationMs: 1_000, usage: NO_USAGE },
    ...more,
  } as ResultLine;
}

export function rowLine(row: number, more: Partial<RowLine> = {}): RowLine {
  return {
    ...{
      type: 'row',
      at: STARTED_AT + row,
      row,
      label: `topic ${row}`,
      path: `rows/${row}`,
      args: {},
      status: 'success',
    },
    ...{ usage: NO_USAGE, saved: NO_SAVINGS, durationMs: 10, reuse: { executed: 1, run: 0, crossRun: 0 } },
    ...more,
  } as RowLine;
}

export function endLine(more: Partial<EndLine> = {}): EndLine {
  return {
    ...{
      type: 'end',
      at: STARTED_AT + 5_000,
      status: 'success',
      durationMs: 5_000,
      spent: NO_USAGE,
      saved: NO_SAVINGS,
    },
    ...more,
  } as EndLine;
}
