import type { KnownFiles } from '../../memo/fingerprint/source.js';
import { PLAIN_FLAGS } from '../../run/snapshot/applies.js';
import { RUN_FLAGS } from '../flags/run-flags.js';
import { runFromSnapshot } from '../run/from-snapshot.js';
import { endProcess, withLostOutput } from './end-process.js';
import { invocationHere } from './here.js';

/**
 * A bundle of its own, a tenth of the command's: answers `taskflow run` where nothing changed. Where the engine has to
 * look, for whatever reason, it need not read the files that are known; nothing has been written then.
 */
export async function answered(args: readonly string[]): Promise<boolean | KnownFiles> {
  const invocation = await invocationHere(
    args,
    RUN_FLAGS.filter(({ name }) => PLAIN_FLAGS.has(name)),
  );
  if (!invocation || invocation.positionals.length === 0) return false;
  const status = await runFromSnapshot(invocation);
  if (typeof status !== 'number') return status ?? false;
  endProcess(withLostOutput(status));
  return true;
}
