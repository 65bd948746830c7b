import type { Diagnostic } from '../../model/diagnostic.js';
import { actionsJob } from '../../report/github/actions.js';
import { annotationLine } from '../../report/github/annotation.js';
import { diagnosticAnnotation } from '../../report/github/annotations.js';
import type { Invocation } from '../boot/command.js';

/** Annotates the problems of a flow at their places, in addition to the frames in the log. */
export function annotateDiagnostics({ project, err }: Invocation, diagnostics: readonly Diagnostic[]): void {
  const job = actionsJob(project);
  if (!job) return;
  for (const diagnostic of diagnostics) {
    err.command(annotationLine(diagnosticAnnotation(diagnostic, job.fileName(diagnostic.file))));
  }
}
