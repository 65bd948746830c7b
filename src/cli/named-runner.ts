import { BUILT_IN_RUNNERS, type Config } from '../model/config.js';
import type { Invocation } from './command.js';

/** What is wrong with `--runner NAME`; undefined when there is such a runner, or none is named. */
export async function unknownRunner(
  { flags }: Invocation,
  { runners }: Config,
): Promise<{ readonly message: string; readonly hint: string } | undefined> {
  const name = flags.string('runner');
  const known = [...new Set([...BUILT_IN_RUNNERS, ...Object.keys(runners)])];
  if (name === undefined || known.includes(name)) return undefined;
  const { nearestName } = await import('../util/nearest.js');
  const nearest = await nearestName(name, known);
  const hint = nearest
    ? `did you mean ${nearest}?`
    : `known: ${known.join(', ')}; add it under \`runners\` in .pi/taskflows/config.yaml`;
  return { message: `there is no runner ${JSON.stringify(name)}`, hint };
}
