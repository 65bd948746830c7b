import { accessSync, constants, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { writeOwnFile } from '../../memo/files/written-files.js';
import type { Flow } from '../../model/flow.js';
import { batchJunit } from '../../report/batch-report.js';
import { type ActionsJob, actionsJob } from '../../report/github/actions.js';
import { type Annotation, annotationLine } from '../../report/github/annotation.js';
import { batchAnnotations, runAnnotations } from '../../report/github/annotations.js';
import { batchSummary, runSummary } from '../../report/github/summary.js';
import { runJunit } from '../../report/run-report.js';
import type { BatchResult } from '../../run/batch/result.js';
import type { RunResult } from '../../run/core/result.js';
import { statIfThere } from '../../util/stat.js';
import { whyUnwritable } from '../../util/why-unwritable.js';
import type { Invocation } from '../boot/command.js';

/** Before anything runs: makes the folder of the test report, or says why there can be none. */
export function prepareReport({ flags, cwd }: Invocation): string | undefined {
  const file = flags.string('junit');
  if (file === undefined) return undefined;
  const path = resolve(cwd, file);
  const cannot = (why: string) => `--junit ${file} cannot be written: ${why}`;
  if (statIfThere(path)?.isDirectory()) return cannot('it is a folder');
  try {
    mkdirSync(dirname(path), { recursive: true });
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return cannot(whyUnwritable(error));
  }
}

/** Writes the test report, the job's summary and its annotations. False when something could not be written. */
export function writeRunReports(invocation: Invocation, flow: Flow, result: RunResult): boolean {
  const { project } = invocation;
  const job = actionsJob(project);
  const name = flow.file === undefined ? undefined : job ? job.fileName(flow.file) : flow.file;
  const reported = { flow, file: name };
  const startedAt = project.clock.now() - result.durationMs;
  return write(invocation, job, {
    junit: () => runJunit(result, reported, startedAt),
    summary: () => runSummary(result, reported),
    annotations: () => runAnnotations(result, reported),
  });
}

export function writeBatchReports(invocation: Invocation, over: string, result: BatchResult): boolean {
  const { project } = invocation;
  const job = actionsJob(project);
  const startedAt = project.clock.now() - result.durationMs;
  return write(invocation, job, {
    junit: () => batchJunit(result, over, startedAt),
    summary: () => batchSummary(result, over),
    annotations: () => batchAnnotations(result, over === '-' ? undefined : job?.fileName(over)),
  });
}

interface Reports {
  junit(): string;
  summary(): string;
  annotations(): readonly Annotation[];
}

function write({ project, flags, cwd, err }: Invocation, job: ActionsJob | undefined, reports: Reports): boolean {
  const problems: string[] = [];
  const file = flags.string('junit');
  if (file !== undefined) {
    const written = writeOwnFile(project, resolve(cwd, file), { data: reports.junit(), mode: 0o644 });
    if ('failed' in written) problems.push(`--junit ${file} cannot be written: ${whyUnwritable(written.failed)}`);
  }
  if (job) {
    const problem = job.addSummary(reports.summary());
    if (problem !== undefined) problems.push(problem);
    // On stderr, because programs read stdout.
    for (const annotation of reports.annotations()) err.command(annotationLine(annotation));
  }
  for (const problem of problems) err.write(`taskflow: ${problem}\n`);
  return problems.length === 0;
}
