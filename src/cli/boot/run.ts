import { FLOW_FLAGS } from '../flags/run-flags.js';
import { runFlowCommand } from '../run/run-flow.js';
import { endProcess, withLostOutput } from './end-process.js';
import { invocationHere } from './here.js';

/**
 * A bundle of its own, with the engine and without the other commands: answers the usual form of `taskflow run FLOW`.
 * False where the whole command line is needed; nothing has been written then.
 */
export async function answered(args: readonly string[]): Promise<boolean> {
  const invocation = await invocationHere(args, FLOW_FLAGS);
  if (!invocation || invocation.positionals.length === 0) return false;
  if (invocation.flags.has('watch') || invocation.flags.boolean('detach')) return false;
  const endWithBug = async (error: unknown) => (await import('./dispatch.js')).endWithBug(error, args);
  process.on('uncaughtException', (error) => void endWithBug(error));
  try {
    endProcess(withLostOutput(await runFlowCommand(invocation)));
  } catch (error) {
    await endWithBug(error);
  }
  return true;
}
