import { type LoadedConfig, loadConfig } from '../../config/load.js';
import type { Invocation } from '../boot/command.js';
import { refuse } from '../errors/problem.js';

export type UsableConfig = Pick<LoadedConfig, 'config' | 'problems' | 'looked'>;

/** The settings; or the exit status after their problems have been shown. A run never goes on with half its settings. */
export async function requireConfig(invocation: Invocation): Promise<UsableConfig | { readonly status: number }> {
  const loaded = await loadConfig(invocation.project);
  const { problems } = loaded;
  if (problems.length === 0) return loaded;
  const { writeDiagnostics } = await import('../errors/diagnostics.js');
  await writeDiagnostics(invocation.err, problems, invocation.project);
  return problems.some(({ severity }) => severity === 'error') ? { status: refuse(invocation, problems) } : loaded;
}
