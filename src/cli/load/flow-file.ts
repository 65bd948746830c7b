import { resolve } from 'node:path';
import { isFlowPath } from '../../check/find-flow.js';
import { type LoadedFlow, loadFlow } from '../../check/load-flow.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { statIfThere } from '../../util/stat.js';
import type { Invocation } from '../boot/command.js';
import { complain, refuse } from '../errors/problem.js';
import { flowOverrides } from '../flags/run-flags.js';

/** FLOW as typed: a path is relative to the current folder, everything else is a saved flow's name. */
export function flowReference(invocation: Invocation, typed: string): string {
  return isFlowPath(typed) ? resolve(invocation.cwd, typed) : typed;
}

/** The message for a missing flow; says so where the typed name is a folder's. */
export function absentInWords(
  { cwd }: Invocation,
  typed: string,
  diagnostics: readonly Diagnostic[],
): readonly Diagnostic[] {
  const isFolder = isFlowPath(typed) && statIfThere(resolve(cwd, typed))?.isDirectory();
  if (!isFolder) return diagnostics;
  const words = { message: `${typed} is a folder, not a flow file`, hint: 'name a file in it' };
  return diagnostics.map((diagnostic) => (diagnostic.code === 'no-flow' ? { ...diagnostic, ...words } : diagnostic));
}

export type UsableFlow = Extract<LoadedFlow, { readonly flow: unknown }>;

/** The flow, checked; or the exit status after its problems have been shown. Warnings are shown either way. */
export async function requireFlow(
  invocation: Invocation,
  typed: string,
): Promise<UsableFlow | { readonly status: number }> {
  const loaded = await loadFlow(invocation.project, flowReference(invocation, typed), {
    overrides: flowOverrides(invocation),
  });
  const reported = 'flow' in loaded ? loaded.warnings : absentInWords(invocation, typed, loaded.diagnostics);
  // A missing flow has no file to point into.
  const absent = reported.find(({ code }) => code === 'no-flow');
  if (absent) return { status: complain(invocation, absent.message, absent.hint) };
  if (reported.length > 0) {
    const { writeDiagnostics } = await import('../errors/diagnostics.js');
    await writeDiagnostics(invocation.err, reported, invocation.project);
    if (invocation.project.env['GITHUB_ACTIONS'] === 'true') {
      (await import('../errors/annotate-diagnostics.js')).annotateDiagnostics(invocation, reported);
    }
  }
  return 'flow' in loaded ? loaded : { status: refuse(invocation, reported) };
}
