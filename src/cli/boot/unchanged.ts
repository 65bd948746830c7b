import { PLAIN_FLAGS } from '../../run/snapshot/applies.js';
import { RUN_FLAGS } from '../flags/run-flags.js';
import { runFromSnapshot } from '../run/from-snapshot.js';
import { endProcess, withLostOutput } from './end-process.js';
import { invocationHere } from './here.js';

/**
 * A bundle of its own, a tenth of the whole: answers `taskflow run` where nothing changed. False where the command
 * itself is needed; nothing has been written then.
 */
export async function answered(args: readonly string[]): Promise<boolean> {
  const invocation = await invocationHere(
    args,
    RUN_FLAGS.filter(({ name }) => PLAIN_FLAGS.has(name)),
  );
  if (!invocation || invocation.positionals.length === 0) return false;
  const status = await runFromSnapshot(invocation);
  if (status === undefined) return false;
  endProcess(withLostOutput(status));
  return true;
}
