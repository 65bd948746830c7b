import { join, resolve } from 'node:path';
import { sha256Hex } from '../../util/digest.js';
import { namesIn } from '../../util/if-there.js';
import { realPath, relativePath } from '../../util/inside.js';
import { type Project, STATE_DIR } from '../../util/project.js';
import { LedgerFile } from './ledger-file.js';
import type { Held } from './lines.js';

/** Beside the runs: it outlives them all. Not in the cache, which may come from elsewhere. */
export function effectsFolder(project: Pick<Project, 'root'>): string {
  return join(project.root, STATE_DIR, 'runs', '.effects');
}

/** A flow file has one ledger, through whatever links it is reached. `flowId`: its path, or the name of other flows. */
export function ledgerName({ root }: Pick<Project, 'root'>, flowId: string): string {
  return sha256Hex(relativePath(realPath(root), realPath(resolve(root, flowId)))).slice(0, 24);
}

/** Side effects of all flows that are in doubt, or done in a run that has not ended well. */
export function heldEffects(project: Pick<Project, 'root'>): Held[] {
  const folder = effectsFolder(project);
  const ledgers = new Set(namesIn(folder).flatMap((name) => /^([0-9a-f]{24})\.\d+\.jsonl$/.exec(name)?.[1] ?? []));
  return [...ledgers].flatMap((name) => [...new LedgerFile(folder, name).read().all()]);
}
