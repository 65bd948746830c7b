import type { Config } from '../../model/config.js';
import type { Invocation } from '../boot/command.js';

/** What is wrong with `--runner NAME`; undefined when there is such a runner, or none is named. */
export async function unknownRunnerFlag(
  { flags }: Invocation,
  { runners }: Config,
): Promise<{ readonly message: string; readonly hint: string } | undefined> {
  const name = flags.string('runner');
  if (name === undefined) return undefined;
  const { unknownRunner } = await import('../../config/runners.js');
  return unknownRunner(name, Object.keys(runners));
}
