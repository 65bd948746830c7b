import type { BatchResult, RowResult } from '../run/batch/result.js';
import { junitXml, type ReportedCase } from './junit.js';
import { moneyProperties } from './words.js';

/** A test report of a batch: a case for each row, named by its topic. */
export function batchJunit(result: BatchResult, over: string, startedAt: number): string {
  const inFile = over === '-' ? undefined : over;
  return junitXml({
    name: result.flow,
    startedAt,
    seconds: result.durationMs / 1_000,
    properties: {
      runId: result.runId,
      status: result.status,
      over,
      ...moneyProperties(result),
    },
    cases: result.rows.map((row) => ({
      name: row.label,
      seconds: row.durationMs / 1_000,
      ...(inFile === undefined ? {} : { file: inFile, line: row.line }),
      outcome: rowOutcome(row),
      remark: `${row.reuse.executed} executed, ${row.reuse.run + row.reuse.crossRun} reused`,
    })),
  });
}

function rowOutcome({ status, error }: RowResult): ReportedCase['outcome'] {
  if (status === 'success') return { type: 'passed' };
  if (status !== 'failed' && status !== 'blocked') return { type: 'skipped', why: error?.message ?? status };
  const message = error ? `${error.phase}: ${error.message}` : status;
  return { type: 'failed', code: error?.code ?? status, message, detail: error?.hint ?? message };
}
