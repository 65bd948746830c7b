import { resolve } from 'node:path';
import { writeOwnFile } from '../../memo/files/written-files.js';
import type { Config } from '../../model/config.js';
import { actionsJob } from '../../report/github/actions.js';
import { annotationLine } from '../../report/github/annotation.js';
import { failedCases, problemLines, testJunit } from '../../report/test-report.js';
import type { TestReport } from '../../testing/suite/report.js';
import { runSuite, type Tested } from '../../testing/suite/run-suite.js';
import { whyUnwritable } from '../../util/why-unwritable.js';
import type { Invocation } from '../boot/command.js';
import { EXIT } from '../errors/exit-status.js';
import { complain } from '../errors/problem.js';
import { withAllowedKeys } from '../load/allowed-keys.js';
import { listenForInterrupts } from '../run/interrupt.js';
import { requireRunConfig } from '../run/prepare-run.js';
import { prepareReport } from '../run/reports.js';
import { createStyle } from '../terminal/style.js';
import { closingLines, fileLines } from './draw-tests.js';

/** Runs tests for a person or a program: shows them, listens for Ctrl-C, writes reports. */
export async function executeTests(invocation: Invocation, tested: readonly Tested[]): Promise<number> {
  const { flags, project, out, err } = invocation;
  const problem = prepareReport(invocation);
  if (problem !== undefined) return complain(invocation, problem);
  const configured = await requireRunConfig(invocation);
  if ('status' in configured) return configured.status;
  const isJson = flags.boolean('json');
  const style = createStyle(out.color);
  const interrupt = listenForInterrupts((line) => err.write(`${line}\n`));
  const startedAt = project.clock.now();
  const report = await runSuite(project, tested, {
    signal: interrupt.signal,
    // Already checked above; here the allowed keys are added to the settings of each copy.
    configure: (config) => withAllowedKeys(invocation, config) as Config,
    onCleanup: (removeAll) => process.once('exit', removeAll),
    ...(!isJson && { onFile: (file) => out.write(`${fileLines(file, style).join('\n')}\n`) }),
    only: flags.string('case'),
    jobs: flags.number('jobs'),
    runner: flags.string('runner'),
    model: flags.string('model'),
    maxUSD: flags.number('max-usd'),
  });
  interrupt.dispose();
  if (isJson) out.json(report);
  else out.write(`${closingLines(report, style).join('\n')}\n`);
  const isWritten = writeReports(invocation, report, startedAt);
  if (report.status === 'interrupted') return EXIT.interrupted;
  return report.status === 'passed' && isWritten ? EXIT.success : EXIT.failed;
}

export function listTests({ out, flags }: Invocation, tested: readonly Tested[]): number {
  const list = tested.flatMap(({ file }) =>
    file.cases.map(({ name, line, after }) => ({
      file: file.shown,
      line,
      name,
      ...(after !== undefined && { after }),
    })),
  );
  if (flags.boolean('json')) out.json(list);
  else for (const { file, line, name } of list) out.write(`${file}:${line} ${name}\n`);
  return EXIT.success;
}

function writeReports({ project, flags, cwd, err }: Invocation, report: TestReport, startedAt: number): boolean {
  const job = actionsJob(project);
  const fileName = (file: string) => (job ? job.fileName(file) : file);
  for (const { file, report: failed } of job ? failedCases(report.files) : []) {
    const place = { file: fileName(file), line: failed.differences[0]?.line ?? failed.line };
    const message = problemLines(failed).join('\n');
    err.command(annotationLine({ severity: 'error', ...place, title: failed.name, message }));
  }
  const junit = flags.string('junit');
  if (junit === undefined) return true;
  const data = testJunit(report, startedAt, fileName);
  const written = writeOwnFile(project, resolve(cwd, junit), { data, mode: 0o644 });
  if ('written' in written) return true;
  err.write(`taskflow: --junit ${junit} cannot be written: ${whyUnwritable(written.failed)}\n`);
  return false;
}
