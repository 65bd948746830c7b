import type { Config } from '../../model/config.js';
import type { StoreOptions } from '../../store/options.js';
import { resolveSigningKey } from '../../store/signing-key.js';
import { storeFolder } from '../../store/store-folder.js';
import type { Project } from '../../util/project.js';
import type { Invocation } from '../boot/command.js';
import { complain } from '../errors/problem.js';
import { requireConfig } from './settings.js';

/** Where the project's store is and its limits; or why its folder or its key cannot be used. */
export function storeOptions(
  project: Project,
  config: Config,
): StoreOptions | { readonly problem: string; readonly hint: string } {
  const signing = resolveSigningKey(config, project);
  if ('problem' in signing) return { ...signing, hint: 'see cache.signingKey in taskflow config list' };
  const folder = storeFolder(project, config);
  if ('problem' in folder) return folder;
  const { maxBytes, maxEntries, maxAgeMs } = config.cache;
  return { dir: folder.dir, project, limits: { maxBytes, maxEntries, maxAgeMs }, signingKey: signing.key };
}

/** The same for a command; or the exit status after the problem has been shown. */
export async function requireStore(
  invocation: Invocation,
): Promise<{ readonly store: StoreOptions; readonly config: Config } | { readonly status: number }> {
  const configured = await requireConfig(invocation);
  if ('status' in configured) return configured;
  const store = storeOptions(invocation.project, configured.config);
  if ('problem' in store) return { status: complain(invocation, store.problem, store.hint) };
  return { store, config: configured.config };
}

/** For commands that are about the shared store. */
export const NO_REMOTE = {
  problem: 'there is no shared cache',
  hint: 'taskflow config set cache.remote.url https://… names one; see docs/shared-cache.md',
};

/** Reports that another process maintains the store. */
export function complainBusy(invocation: Invocation, busy: string): number {
  return complain(invocation, `the store is being tidied by someone else: ${busy}`, 'try again in a moment');
}
