import { problemLines } from '../../report/test-report.js';
import type { CaseReport, FileReport, TestReport } from '../../testing/suite/report.js';
import { formatDuration } from '../../util/duration.js';
import { formatMoney, plural } from '../../util/format.js';
import { oneLine, sanitize } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';

/** One test file and how its cases went. */
export function fileLines({ file, cases }: FileReport, style: Style): readonly string[] {
  if (cases.length === 0) return [];
  return [style.bold(file), ...cases.flatMap((report) => caseLines(file, report, style))];
}

function caseLines(file: string, report: CaseReport, style: Style): readonly string[] {
  const name = oneLine(report.name);
  switch (report.status) {
    case 'passed':
      return [`  ${style.green('✓')} ${name} ${style.dim(formatDuration(report.durationMs))}`];
    case 'skipped':
      return [`  ${style.yellow('-')} ${name} ${style.dim(`skipped: ${oneLine(report.reason ?? '')}`)}`];
    case 'failed': {
      const place = `${file}:${report.differences[0]?.line ?? report.line}`;
      return [
        `  ${style.red('✗')} ${name} ${style.dim(`${formatDuration(report.durationMs)}  ${place}`)}`,
        ...problemLines(report)
          .flatMap((line) => sanitize(line).split('\n'))
          .map((line) => `      ${line}`),
      ];
    }
  }
}

/** The last lines: counts, recordings, what to do next. */
export function closingLines(report: TestReport, style: Style): readonly string[] {
  const { passed, failed, skipped, recordings } = report;
  const counts = [
    ...(failed > 0 ? [style.red(`${failed} failed`)] : []),
    ...(passed > 0 ? [style.green(`${passed} passed`)] : []),
    ...(skipped > 0 ? [style.yellow(`${skipped} skipped`)] : []),
  ];
  const unrecorded = report.files.some(({ cases }) => cases.some((each) => each.unrecorded.length > 0));
  return [
    '',
    ...(recordings.made > 0 ? [`recorded ${plural(recordings.made, 'call')}${costOf(recordings.usd)}`] : []),
    ...named('removed, since nothing uses it', recordings.removed),
    ...named('nothing uses this recording', recordings.unused),
    ...(unrecorded ? ['record what is missing: taskflow test --update'] : []),
    ...(report.status === 'interrupted' ? ['interrupted: what was recorded is kept'] : []),
    `${counts.join(', ') || 'no case ran'} ${style.dim(`in ${formatDuration(report.durationMs)}`)}`,
  ];
}

function costOf(usd: number | null): string {
  return usd === null ? ' (price unknown)' : usd > 0 ? ` for ${formatMoney(usd)}` : '';
}

function named(what: string, files: readonly string[]): readonly string[] {
  return files.map((file) => `${what}: ${file}`);
}
