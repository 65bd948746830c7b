import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ArgSpec } from '../../model/flow.js';
import { isJsonObject, type JsonValue } from '../../model/json.js';
import { isForbiddenName } from '../../model/names.js';
import { bindArgs, suggestArguments } from '../../plan/args.js';
import { whyUnreadable } from '../../util/why-unreadable.js';
import type { Invocation } from '../boot/command.js';

export type GivenArgs =
  | { readonly args: Readonly<Record<string, JsonValue>> }
  | { readonly problems: readonly { readonly message: string; readonly hint?: string }[] };

interface GivenWords {
  /** Plain `k=v` words. */
  readonly pairs?: readonly string[];
  /** What a continued run was given. */
  readonly earlier?: Readonly<Record<string, JsonValue>>;
}

/** Arguments of a flow from `--args-file`, `--arg k=v` and plain `k=v` words, the later over the earlier. */
export async function givenArgs(
  invocation: Invocation,
  specs: Readonly<Record<string, ArgSpec>>,
  { pairs = [], earlier = {} }: GivenWords,
): Promise<GivenArgs> {
  const given: Record<string, JsonValue> = Object.assign(Object.create(null), earlier);
  const problems: { message: string; hint?: string }[] = [];
  const file = invocation.flags.string('args-file');
  if (file !== undefined) {
    const read = await readArgsFile(invocation, file);
    if ('problem' in read) problems.push({ message: read.problem });
    else Object.assign(given, read.values);
  }
  for (const pair of [...invocation.flags.list('arg'), ...pairs]) {
    const split = splitPair(pair, specs);
    if ('problem' in split) problems.push({ message: split.problem, hint: split.hint });
    else given[split.name] = split.value;
  }
  if (problems.length > 0) return { problems };
  const bound = bindArgs(specs, given, { root: invocation.project.root, source: 'json' });
  return 'args' in bound ? bound : { problems: await suggestArguments(bound.problems, specs) };
}

/** On the command line the value of a `json` argument is parsed as JSON; values in a file have types already. */
function splitPair(
  pair: string,
  specs: Readonly<Record<string, ArgSpec>>,
): { readonly name: string; readonly value: JsonValue } | { readonly problem: string; readonly hint: string } {
  const hint = 'arguments are written name=value';
  const equals = pair.indexOf('=');
  if (equals < 1) return { problem: `${JSON.stringify(pair)} is no argument`, hint };
  const name = pair.slice(0, equals).trim();
  const text = pair.slice(equals + 1);
  if (isForbiddenName(name)) return { problem: `${JSON.stringify(name)} is no name for an argument`, hint };
  if (!Object.hasOwn(specs, name) || specs[name]!.type !== 'json' || specs[name]!.untyped) return { name, value: text };
  try {
    return { name, value: JSON.parse(text) as JsonValue };
  } catch (error) {
    const why = (error as Error).message;
    return { problem: `argument "${name}" has to be JSON: ${why}`, hint: `for example: '${name}=["a", "b"]'` };
  }
}

async function readArgsFile(
  invocation: Invocation,
  file: string,
): Promise<{ readonly values: Record<string, JsonValue> } | { readonly problem: string }> {
  let text: string;
  try {
    text =
      file === '-' ? invocation.stdin.readAll().toString('utf8') : readFileSync(resolve(invocation.cwd, file), 'utf8');
  } catch (error) {
    return { problem: `--args-file ${file} cannot be read: ${whyUnreadable(error)}` };
  }
  const { parseText } = await import('../../parse/parse.js');
  const parsed = await parseText(file === '-' ? 'stdin.yaml' : file, text);
  if ('problems' in parsed)
    return { problem: `--args-file ${file}: ${parsed.problems[0]?.message ?? 'cannot be read'}` };
  const value = parsed.value as JsonValue;
  return isJsonObject(value) ? { values: { ...value } } : { problem: `--args-file ${file} must hold names and values` };
}
