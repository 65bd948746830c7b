import type { Diagnostic } from '../../model/diagnostic.js';
import type { BatchResult } from '../../run/batch/result.js';
import type { RunResult } from '../../run/result.js';
import { sanitize } from '../../util/terminal-text.js';
import type { ReportedFlow } from '../run-report.js';
import type { Annotation } from './annotation.js';

/** GitHub shows ten of a kind for a step; what else went wrong is in the summary. */
const MOST = 10;

/** A problem in a file, at its place. */
export function diagnosticAnnotation(diagnostic: Diagnostic, file: string | undefined): Annotation {
  const { severity, line, column, length, code, message, hint } = diagnostic;
  const said = hint ? `${message}\n${hint}` : message;
  return { severity, file, line, column, endColumn: column + length, title: code, message: said };
}

/** Every phase that failed, was blocked or waits, at its line in the flow. */
export function runAnnotations(result: RunResult, { flow, file }: ReportedFlow): Annotation[] {
  const lines = new Map(flow.phases.map(({ id, line }) => [id, line]));
  const place = (id: string) => ({ file, line: file === undefined ? undefined : lines.get(id) });
  const found = result.phases.flatMap(({ id, status, error, reason }): Annotation[] => {
    if (status === 'paused') {
      const message = [error?.message ?? reason, error?.hint].filter(Boolean).join('\n');
      return [{ severity: 'warning', ...place(id), title: `${id} waits for an approval`, message }];
    }
    if (status !== 'failed' && status !== 'blocked') return [];
    const message = sanitize([error?.message ?? reason, error?.detail, error?.hint].filter(Boolean).join('\n'));
    return [{ severity: 'error', ...place(id), title: `${id} ${status}`, message: message.slice(0, 4_000) }];
  });
  if (found.length > 0 || result.status === 'success') return found.slice(0, MOST);
  const { error } = result;
  return [
    { severity: 'error', file, title: `${result.flow}: ${result.status}`, message: error?.message ?? result.status },
  ];
}

/** Rows that failed, at their line in the list of rows. */
export function batchAnnotations(result: BatchResult, rowsFile: string | undefined): Annotation[] {
  const bad = result.rows.filter(({ status }) => status === 'failed' || status === 'blocked');
  return bad.slice(0, MOST).map(({ line, label, status, error }) => ({
    severity: 'error',
    file: rowsFile,
    line: rowsFile === undefined ? undefined : line,
    title: `${label.slice(0, 100)} ${status}`,
    message: sanitize(error ? `${error.phase}: ${error.message}` : status),
  }));
}
