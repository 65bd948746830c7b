import { answerRun } from '../../run/snapshot/answer.js';
import { isPlainCommand, isPlainFlow } from '../../run/snapshot/applies.js';
import { SnapshotCollector } from '../../run/snapshot/collect.js';
import { freshStore } from '../../run/snapshot/fresh.js';
import { type Asked, readSnapshot, type Snapshot } from '../../run/snapshot/snapshot.js';
import { storeFolder } from '../../store/store-folder.js';
import type { Invocation } from '../boot/command.js';
import type { UsableFlow } from '../load/flow-file.js';
import type { UsableConfig } from '../load/settings.js';
import { printResult, showingRun } from './show-run.js';

/** The exit status of a run in which nothing changed; undefined where the engine has to look. */
export async function runFromSnapshot(invocation: Invocation): Promise<number | undefined> {
  const { project, flags, positionals } = invocation;
  if (!isPlainCommand(flags.given(), project.env)) return undefined;
  if (flags.boolean('json') && flags.boolean('events')) return undefined;
  const fresh = await freshSnapshot(invocation);
  if (!fresh) return undefined;
  const ref = positionals[0]!;
  const showing = showingRun(invocation, fresh.snapshot.run.file ?? ref);
  const result = answerRun({ project, ...fresh, ref }, showing.onEvent);
  showing.end();
  return printResult(invocation, result);
}

/** The snapshot, with the folder of the store that has its results. */
async function freshSnapshot(invocation: Invocation): Promise<{ snapshot: Snapshot; store: string } | undefined> {
  const { project } = invocation;
  try {
    const snapshot = readSnapshot(project, askedOf(invocation));
    if (!snapshot) return undefined;
    const store = await freshStore(snapshot, project);
    return store === undefined ? undefined : { snapshot, store };
  } catch {
    // Only a snapshot edited by hand gets here. The engine does not need it.
    return undefined;
  }
}

/** Undefined where the engine has to examine the next run anyway. */
export function snapshotCollector(
  invocation: Invocation,
  loaded: UsableFlow,
  { config, problems, looked }: UsableConfig,
): SnapshotCollector | undefined {
  const { project, flags } = invocation;
  const isPlain = isPlainCommand(flags.given(), project.env) && isPlainFlow(loaded.flow, config);
  const store = storeFolder(project, config);
  if (!isPlain || 'problem' in store || problems.length > 0 || loaded.warnings.length > 0) return undefined;
  const options = { project, config, flow: loaded.flow };
  return new SnapshotCollector(options, {
    asked: askedOf(invocation),
    files: [...loaded.looked, ...looked],
    store: store.dir,
  });
}

function askedOf({ cwd, positionals }: Invocation): Asked {
  const [flow = '', ...words] = positionals;
  return { flow, cwd, words };
}
