import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { editConfigText } from '../config/edit.js';
import { configFile } from '../config/files.js';
import { loadConfig } from '../config/load.js';
import { unknownRunner } from '../config/runners.js';
import { definedRunners } from '../model/config.js';
import { writeFileAtomic } from '../util/atomic-write.js';
import { whyUnwritable } from '../util/why-unwritable.js';
import type { Invocation } from './command.js';
import { writeDiagnostics } from './diagnostics.js';
import { EXIT } from './exit-status.js';
import { complain } from './problem.js';

/** Sets one value in the project's or the user's file, or takes it out; nothing is written that would not be valid. */
export async function changeConfig(invocation: Invocation, value: string | undefined): Promise<number> {
  const file = configFile(invocation.project, invocation.flags.boolean('user') ? 'user' : 'project');
  const before = readIfThere(file.path);
  if (before instanceof Error) return complain(invocation, `${file.name} cannot be read: ${before.message}`);
  const edited = await editConfigText(before, invocation.positionals[0]!, value);
  if ('problem' in edited) return complain(invocation, edited.problem, edited.hint);
  if ('absent' in edited) {
    invocation.err.write(`${edited.absent} is not set in ${file.name}\n`);
    return EXIT.success;
  }
  if (edited.key === 'runner' && value !== undefined) {
    // In either file: a runner may be chosen in one of them and defined in the other.
    const { values } = await loadConfig(invocation.project);
    const unknown = await unknownRunner(String(edited.value), definedRunners(values));
    if (unknown) return complain(invocation, unknown.message, unknown.hint);
  }
  if (edited.text !== before) {
    const failed = write(file.path, edited.text);
    if (failed) return complain(invocation, `${file.name} cannot be written: ${whyUnwritable(failed)}`);
  }
  const shown = typeof edited.value === 'string' ? edited.value : JSON.stringify(edited.value);
  invocation.err.write(
    value === undefined
      ? `${edited.key} is no longer set in ${file.name}\n`
      : `${edited.key} = ${shown} in ${file.name}\n`,
  );
  const { problems, values } = await loadConfig(invocation.project);
  await writeDiagnostics(invocation.err, problems, invocation.project);
  const effective = values.find(({ key }) => key === edited.key);
  if (effective?.source === 'project' && file.source === 'user') {
    invocation.err.write(`note: here ${effective.file} says otherwise, and counts\n`);
  }
  return EXIT.success;
}

function readIfThere(path: string): string | Error {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? '' : (error as Error);
  }
}

function write(path: string, text: string): Error | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    return error as Error;
  }
  const result = writeFileAtomic(path, text, 0o644);
  return 'failed' in result ? result.failed : undefined;
}
