import type { CaseReport, FileReport, TestReport } from '../testing/suite/report.js';
import { junitOfAll, type ReportedCase } from './junit.js';

/** A JUnit report of tests: a suite for each file. `fileName`: how CI knows a file of the project. */
export function testJunit(
  { files, durationMs }: TestReport,
  startedAt: number,
  fileName: (file: string) => string | undefined = (file) => file,
): string {
  const suites = files.map(({ file, flow, cases }) => ({
    name: file,
    startedAt,
    seconds: cases.reduce((sum, each) => sum + each.durationMs, 0) / 1_000,
    properties: { flow },
    cases: cases.map((each) => testCase(each, fileName(file))),
  }));
  return junitOfAll('taskflow test', durationMs / 1_000, suites);
}

function testCase(report: CaseReport, file: string | undefined): ReportedCase {
  const { name, line, durationMs } = report;
  return { name, seconds: durationMs / 1_000, ...(file !== undefined && { file, line }), outcome: outcomeOf(report) };
}

function outcomeOf(report: CaseReport): ReportedCase['outcome'] {
  if (report.status === 'passed') return { type: 'passed' };
  if (report.status === 'skipped') return { type: 'skipped', why: report.reason ?? 'skipped' };
  const lines = problemLines(report);
  const code = report.unrecorded.length > 0 ? 'unrecorded' : 'difference';
  return { type: 'failed', code, message: lines[0]!, detail: lines.join('\n') };
}

/** The problems of a case, a line each. Consequences of a call without a recording are left out. */
export function problemLines({ differences, unrecorded }: Pick<CaseReport, 'differences' | 'unrecorded'>): string[] {
  if (unrecorded.length === 0) return differences.map(({ what, message }) => `${what}: ${message}`);
  return unrecorded.flatMap(({ title, ordinal, nearest }) => [
    `no recording of this call${ordinal > 1 ? ` (number ${ordinal})` : ''}: ${JSON.stringify(title)}`,
    ...(nearest ? [`  nearest: ${nearest.file}`, ...nearest.differs.map((each) => `    ${each}`)] : []),
  ]);
}

/** Cases that failed, for annotations at their lines. */
export function failedCases(
  files: readonly FileReport[],
): readonly { readonly file: string; readonly report: CaseReport }[] {
  return files.flatMap(({ file, cases }) =>
    cases.flatMap((report) => (report.status === 'failed' ? [{ file, report }] : [])),
  );
}
