import { loadConfig } from '../config/load.js';
import type { Config } from '../model/config.js';
import type { Invocation } from './command.js';
import { EXIT } from './exit-status.js';

/** The settings; or the exit status after their problems have been shown. A run never goes on with half its settings. */
export async function requireConfig(
  invocation: Invocation,
): Promise<{ readonly config: Config } | { readonly status: number }> {
  const { config, problems } = await loadConfig(invocation.project);
  if (problems.length === 0) return { config };
  const { writeDiagnostics } = await import('./diagnostics.js');
  await writeDiagnostics(invocation.err, problems, invocation.project);
  return problems.some(({ severity }) => severity === 'error') ? { status: EXIT.usage } : { config };
}
