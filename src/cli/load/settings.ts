import { type LoadedConfig, loadConfig } from '../../config/load.js';
import type { Invocation } from '../boot/command.js';
import { complain, refuse } from '../errors/problem.js';
import { withAllowedKeys } from './allowed-keys.js';

export type UsableConfig = Pick<LoadedConfig, 'config' | 'problems' | 'looked'>;

/** The settings; or the exit status after showing their problems. A run never uses incomplete settings. */
export async function requireConfig(invocation: Invocation): Promise<UsableConfig | { readonly status: number }> {
  const loaded = await loadConfig(invocation.project);
  const { problems } = loaded;
  const config = withAllowedKeys(invocation, loaded.config);
  if ('problem' in config) return { status: complain(invocation, config.problem) };
  if (problems.length === 0) return { ...loaded, config };
  const { writeDiagnostics } = await import('../errors/diagnostics.js');
  await writeDiagnostics(invocation.err, problems, invocation.project);
  return problems.some(({ severity }) => severity === 'error')
    ? { status: refuse(invocation, problems) }
    : { ...loaded, config };
}
