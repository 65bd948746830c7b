import { PLAIN_FLAGS } from '../../run/snapshot/applies.js';
import { parseArguments } from '../flags/flags.js';
import { RUN_FLAGS } from '../flags/run-flags.js';
import { projectAt } from '../load/project.js';
import { runFromSnapshot } from '../run/from-snapshot.js';
import { createWriter, stdinSource } from '../terminal/writer.js';
import { endProcess, withLostOutput } from './end-process.js';

/**
 * A bundle of its own, a tenth of the command's: answers `taskflow run` where nothing changed. False where the command
 * itself has to look, for whatever reason; nothing has been written then.
 */
export async function answered(args: readonly string[]): Promise<boolean> {
  const parsed = parseArguments(
    args.slice(1),
    RUN_FLAGS.filter(({ name }) => PLAIN_FLAGS.has(name)),
  );
  if ('problem' in parsed || parsed.positionals.length === 0) return false;
  const { flags, positionals } = parsed;
  const cwd = currentFolder();
  const project = cwd === undefined ? undefined : await projectAt(cwd);
  if (cwd === undefined || !project || 'refused' in project) return false;
  const writer = (fd: 1 | 2) => createWriter({ fd, color: 'auto', env: project.env });
  const [out, err] = [writer(1), writer(2)];
  const status = await runFromSnapshot({
    command: 'run',
    flags,
    positionals,
    project,
    cwd,
    out,
    err,
    stdin: stdinSource(),
  });
  if (status === undefined) return false;
  endProcess(withLostOutput(status));
  return true;
}

function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    // It was removed: the command reports that.
    return undefined;
  }
}
