import type { FlagSpec } from '../flags/flag-spec.js';
import { parseArguments } from '../flags/flags.js';
import { projectAt } from '../load/project.js';
import { createWriter, stdinSource } from '../terminal/writer.js';
import type { Invocation } from './command.js';

/**
 * A call in the current folder, for the bundles that answer one command without loading the others. Undefined where
 * there is a problem, or a flag that they do not know: then the whole command line is loaded.
 */
export async function invocationHere(
  args: readonly string[],
  flagSpecs: readonly FlagSpec[],
): Promise<Invocation | undefined> {
  const parsed = parseArguments(args.slice(1), flagSpecs);
  const cwd = currentFolder();
  if ('problem' in parsed || cwd === undefined) return undefined;
  const project = await projectAt(cwd);
  if ('refused' in project) return undefined;
  const writer = (fd: 1 | 2) => createWriter({ fd, color: 'auto', env: project.env });
  return { command: args[0]!, ...parsed, project, cwd, out: writer(1), err: writer(2), stdin: stdinSource() };
}

function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    // It was removed: the command reports that.
    return undefined;
  }
}
