import type { Invocation } from '../boot/command.js';

/** By the flag, or by the variables of OpenTelemetry. */
export function wantsTrace({ flags, project: { env } }: Invocation): boolean {
  if (flags.has('otel')) return true;
  if (env['OTEL_SDK_DISABLED'] === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none') return false;
  return Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']);
}

/** What is wrong with `--otel`, before anything is spent on a run. */
export async function traceProblem({ flags, project }: Invocation): Promise<string | undefined> {
  if (!flags.has('otel')) return undefined;
  const { otelTarget } = await import('../../report/otel/target.js');
  const target = otelTarget(project.env, flags.string('otel'));
  return 'problem' in target ? `--otel: ${target.problem}` : undefined;
}

/** Called after everything is printed. A failure is a warning and changes neither the result nor the exit status. */
export async function sendTrace(invocation: Invocation, runId: string): Promise<void> {
  const sent = await exportTrace(invocation, runId);
  if ('problem' in sent) invocation.err.write(`taskflow: ${sent.problem}\n`);
}

export async function exportTrace({ flags, project }: Invocation, runId: string) {
  const { otelTarget } = await import('../../report/otel/target.js');
  const target = otelTarget(project.env, flags.string('otel'));
  if ('problem' in target) return { problem: `the trace was not sent: ${target.problem}` };
  const { exportRun } = await import('../../report/otel/export.js');
  return exportRun(project, runId, target);
}
