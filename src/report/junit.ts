import { attributes, escapeXml } from './xml.js';

/** One line of a test report: a phase of a run, or a row of a batch. */
export interface ReportedCase {
  readonly name: string;
  readonly seconds: number;
  /** Of the flow, for a test report that can point to it. */
  readonly file?: string;
  readonly line?: number;
  readonly outcome:
    | { readonly type: 'passed' }
    | { readonly type: 'skipped'; readonly why: string; readonly detail?: string }
    | { readonly type: 'failed'; readonly code: string; readonly message: string; readonly detail: string };
  /** Shown beside it: where the result came from, what it cost. */
  readonly remark?: string;
}

interface TestSuite {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly seconds: number;
  readonly properties: Readonly<Record<string, string>>;
  readonly cases: readonly ReportedCase[];
}

/** A JUnit report, as CI systems read it. */
export function junitXml(suite: TestSuite): string {
  return junitOfAll(suite.name, suite.seconds, [suite]);
}

export function junitOfAll(name: string, seconds: number, suites: readonly TestSuite[]): string {
  const all = suites.flatMap(({ cases }) => cases);
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name, ...countsOf(all, seconds) })}>`,
    ...suites.flatMap(suiteLines),
    '</testsuites>',
  ].join('\n')}\n`;
}

function countsOf(cases: readonly ReportedCase[], seconds: number) {
  const failures = cases.filter(({ outcome }) => outcome.type === 'failed').length;
  const skipped = cases.filter(({ outcome }) => outcome.type === 'skipped').length;
  return { tests: cases.length, failures, errors: 0, skipped, time: seconds.toFixed(3) };
}

function suiteLines({ name, startedAt, seconds, properties, cases }: TestSuite): string[] {
  const timestamp = new Date(startedAt).toISOString().slice(0, 19);
  return [
    `  <testsuite${attributes({ name, ...countsOf(cases, seconds), timestamp })}>`,
    '    <properties>',
    ...Object.entries(properties).map(([key, value]) => `      <property${attributes({ name: key, value })}/>`),
    '    </properties>',
    ...cases.flatMap((test) => caseLines(name, test)),
    '  </testsuite>',
  ];
}

function caseLines(suite: string, { name, seconds, file, line, outcome, remark }: ReportedCase): string[] {
  const head = `    <testcase${attributes({ classname: suite, name, time: seconds.toFixed(3), file, line })}`;
  const inside = [...outcomeLines(outcome), ...(remark ? [`      <system-out>${escapeXml(remark)}</system-out>`] : [])];
  return inside.length === 0 ? [`${head}/>`] : [`${head}>`, ...inside, '    </testcase>'];
}

function outcomeLines(outcome: ReportedCase['outcome']): string[] {
  switch (outcome.type) {
    case 'passed':
      return [];
    case 'skipped': {
      const head = `      <skipped${attributes({ message: outcome.why })}`;
      return [outcome.detail ? `${head}>${escapeXml(outcome.detail)}</skipped>` : `${head}/>`];
    }
    case 'failed': {
      const { code, message, detail } = outcome;
      return [`      <failure${attributes({ type: code, message })}>${escapeXml(detail)}</failure>`];
    }
  }
}
