import type { Diagnostic } from '../../model/diagnostic.js';
import { waitsFor } from '../../model/failure.js';
import type { BatchResult } from '../../run/batch/result.js';
import type { PhaseResult, RunResult } from '../../run/core/result.js';
import { sanitize } from '../../util/terminal-text.js';
import { type ReportedFlow, toleratedPhases } from '../run-report.js';
import type { Annotation } from './annotation.js';

/** GitHub shows ten of a kind for a step; the summary has the others. */
const MOST = 10;

/** A problem in a file, at its place. */
export function diagnosticAnnotation(diagnostic: Diagnostic, file: string | undefined): Annotation {
  const { severity, line, column, length, code, message, hint } = diagnostic;
  const said = hint ? `${message}\n${hint}` : message;
  return { severity, file, line, column, endColumn: column + length, title: code, message: said };
}

/** Every phase that failed, was blocked or waits, at its line in the flow; optional phases last, as warnings. */
export function runAnnotations(result: RunResult, reported: ReportedFlow): Annotation[] {
  const { flow, file } = reported;
  const lines = new Map(flow.phases.map(({ id, line }) => [id, line]));
  const tolerated = toleratedPhases(result, reported);
  const annotate = ({ id, status, error, reason }: PhaseResult): Annotation => {
    const place = { file, line: file === undefined ? undefined : lines.get(id) };
    const said = [error?.message ?? reason, status === 'paused' ? '' : error?.detail, error?.hint];
    const message = sanitize(said.filter(Boolean).join('\n')).slice(0, 4_000);
    if (status === 'paused')
      return { severity: 'warning', ...place, title: `${id} waits for ${waitsFor(error)}`, message };
    if (tolerated.has(id)) return { severity: 'warning', ...place, title: `${id} ${status}, and is optional`, message };
    return { severity: 'error', ...place, title: `${id} ${status}`, message };
  };
  const notable = result.phases.filter(({ status }) => NOTABLE.has(status));
  const stopping = notable.filter(({ id }) => !tolerated.has(id)).map(annotate);
  const others = notable.filter(({ id }) => tolerated.has(id)).map(annotate);
  if (stopping.length === 0 && result.status !== 'success') {
    const message = result.error?.message ?? result.status;
    stopping.push({ severity: 'error', file, title: `${result.flow}: ${result.status}`, message });
  }
  return [...stopping.slice(0, MOST), ...others.slice(0, MOST)];
}

const NOTABLE: ReadonlySet<PhaseResult['status']> = new Set(['failed', 'blocked', 'paused']);

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
