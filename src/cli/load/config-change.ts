import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { editConfigText } from '../../config/edit.js';
import { type ConfigFile, configFile } from '../../config/files.js';
import { loadConfig } from '../../config/load.js';
import { unknownRunner } from '../../config/runners.js';
import { isUserOnly } from '../../config/settings.js';
import { definedRunners } from '../../model/config.js';
import type { JsonValue } from '../../model/json.js';
import { writeFileTidily } from '../../util/atomic-write.js';
import { whyUnwritableAt } from '../../util/why-unwritable.js';
import type { Command, Invocation } from '../boot/command.js';
import { writeDiagnostics } from '../errors/diagnostics.js';
import { EXIT } from '../errors/exit-status.js';
import { complain } from '../errors/problem.js';
import { jsonFlag } from '../flags/common-flags.js';
import { WRITABLE_HINT } from './new-file.js';

export const CHANGE_FLAGS: Command['flags'] = [
  { name: 'user', type: 'boolean', help: 'in your own settings, for all projects' },
  jsonFlag('as JSON: {key, value, file, changed, overriddenBy, problems}'),
];

/** Sets one value in the project's or the user's file, or removes it. Never writes an invalid file. */
export async function changeConfig(invocation: Invocation, value: string | undefined): Promise<number> {
  const file = configFile(invocation.project, invocation.flags.boolean('user') ? 'user' : 'project');
  const before = readOrEmpty(file.path);
  if (before instanceof Error) return complain(invocation, `${file.name} cannot be read: ${before.message}`);
  const edited = await editConfigText(before, invocation.positionals[0]!, value);
  if ('problem' in edited) return complain(invocation, edited.problem, edited.hint);
  if ('absent' in edited) return reportAbsent(invocation, file, edited);
  if (file.source === 'project' && isUserOnly(edited.key)) {
    return complain(invocation, `${edited.key} is for the user to say, not for a project`, 'add --user');
  }
  const unfit = await unfitRunner(invocation, { file, text: edited.text, key: edited.key, value: edited.value });
  if (unfit) return complain(invocation, unfit.message, unfit.hint);
  const isChanged = edited.text !== before;
  if (isChanged) {
    const failed = write(file.path, edited.text);
    if (failed) {
      const hint = file.source === 'project' ? WRITABLE_HINT : undefined;
      return complain(invocation, `${file.name} cannot be written: ${whyUnwritableAt(file.path, failed)}`, hint);
    }
  }
  const { problems, values } = await loadConfig(invocation.project);
  const effective = values.find(({ key }) => key === edited.key);
  const other = effective?.source === 'project' && file.source === 'user' ? effective.file : undefined;
  if (invocation.flags.boolean('json')) {
    const { key } = edited;
    const json = {
      key,
      value: edited.value,
      file: file.name,
      changed: isChanged,
      overriddenBy: other ?? null,
      problems,
    };
    invocation.out.write(`${JSON.stringify(json)}\n`);
    return EXIT.success;
  }
  const shown = typeof edited.value === 'string' ? edited.value : JSON.stringify(edited.value);
  invocation.err.write(
    value === undefined
      ? `${edited.key} is no longer set in ${file.name}\n`
      : `${edited.key} = ${shown} in ${file.name}\n`,
  );
  await writeDiagnostics(invocation.err, problems, invocation.project);
  if (other !== undefined) invocation.err.write(`note: here ${other} says otherwise, and counts\n`);
  return EXIT.success;
}

function reportAbsent(
  { flags, out, err }: Invocation,
  file: ConfigFile,
  { absent, nearest }: { readonly absent: string; readonly nearest?: string },
): number {
  if (flags.boolean('json')) {
    const json = { key: absent, value: null, file: file.name, changed: false, overriddenBy: null, problems: [] };
    out.write(`${JSON.stringify(json)}\n`);
  } else {
    err.write(`${absent} is not set in ${file.name}\n`);
    if (nearest !== undefined) err.write(`  did you mean ${nearest}?\n`);
  }
  return EXIT.success;
}

interface Edit {
  readonly file: ConfigFile;
  readonly text: string;
  readonly key: string;
  readonly value: JsonValue;
}

/** A runner may be chosen in one file and defined in the other: afterwards, each chosen runner must be defined. */
async function unfitRunner({ project }: Invocation, { file, text, key, value }: Edit) {
  const { values } = await loadConfig(project);
  if (key === 'runner' && value !== null) return unknownRunner(String(value), definedRunners(values));
  const [group, name] = key.split('.') as [string, string | undefined];
  const chosen = values.find((setting) => setting.key === 'runner');
  if (group !== 'runners' || value !== null || !chosen || chosen.value !== name) return undefined;
  const other = readOrEmpty(configFile(project, file.source === 'user' ? 'project' : 'user').path);
  const { checkConfigText } = await import('../../config/check-file.js');
  const texts = [text, typeof other === 'string' ? other : ''];
  const left = await Promise.all(
    texts.map(async (each) => Object.keys((await checkConfigText(each, file.name)).values)),
  );
  const defined = definedRunners(left.flat().map((each) => ({ key: each })));
  if ((await unknownRunner(name!, defined)) === undefined) return undefined;
  const where = chosen.file === undefined ? '' : ` in ${chosen.file}`;
  const user = chosen.source === 'user' ? ' --user' : '';
  const hint = `choose another first: taskflow config set runner NAME${user}, or taskflow config unset runner${user}`;
  return { message: `${name} is the runner that is chosen${where}`, hint };
}

function readOrEmpty(path: string): string | Error {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    // Where its folder is a file, the write reports that.
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '') ? '' : (error as Error);
  }
}

function write(path: string, text: string): Error | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    return error as Error;
  }
  const result = writeFileTidily(path, text, 0o644);
  return 'failed' in result ? result.failed : undefined;
}
