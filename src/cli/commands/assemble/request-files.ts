import { readFileSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { readExample } from '../../../assemble/read-example.js';
import type { AssembleRequest, Example } from '../../../assemble/request.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../model/json.js';
import { whyUnreadable } from '../../../util/why-unreadable.js';
import type { Invocation } from '../../boot/command.js';
import type { InputProblem } from '../../errors/refusal.js';

/** The request on the command line, or all its problems. */
export async function readRequest(
  invocation: Invocation,
): Promise<{ readonly request: AssembleRequest } | { readonly problems: readonly InputProblem[] }> {
  const { flags, positionals } = invocation;
  const problems: InputProblem[] = [];
  const schemas: Record<string, JsonObject> = {};
  for (const name of ['input', 'output'] as const) {
    const file = flags.string(name);
    const read = file === undefined ? { problem: `--${name} is missing` } : await readSchema(invocation, file);
    if ('problem' in read) problems.push({ message: read.problem, ...(file === undefined && { hint: MISSING }) });
    else schemas[name] = read.schema;
  }
  const examples: Example[] = [];
  for (const [index, file] of flags.list('example').entries()) {
    const read = await readValue(invocation, file);
    const name = isInline(file) ? `example ${index + 1}` : basename(file, extname(file));
    const found = 'problem' in read ? read : readExample(read.value, name);
    if ('problem' in found) problems.push({ message: found.problem });
    else examples.push(found.example);
  }
  if (problems.length > 0) return { problems };
  return { request: { task: positionals[0]!, input: schemas['input']!, output: schemas['output']!, examples } };
}

const MISSING = 'a file with a JSON Schema, in JSON or YAML';

/** Whether the argument is JSON itself, from a program without a file. */
function isInline(file: string): boolean {
  return file.startsWith('{');
}

async function readSchema(
  invocation: Invocation,
  file: string,
): Promise<{ readonly schema: JsonObject } | { readonly problem: string }> {
  const read = await readValue(invocation, file);
  if ('problem' in read) return read;
  return isJsonObject(read.value)
    ? { schema: read.value }
    : { problem: `${file} is no JSON Schema: that is an object` };
}

async function readValue(
  { cwd }: Invocation,
  file: string,
): Promise<{ readonly value: JsonValue } | { readonly problem: string }> {
  let text: string;
  try {
    text = isInline(file) ? file : readFileSync(resolve(cwd, file), 'utf8');
  } catch (error) {
    return { problem: `${file} cannot be read: ${whyUnreadable(error)}` };
  }
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    // YAML, or JSON with a mistake, which the YAML parser can point at.
  }
  const { parseText } = await import('../../../parse/parse.js');
  const parsed = await parseText(isInline(file) ? 'inline.yaml' : file, text);
  if (!('problems' in parsed)) return { value: parsed.value as JsonValue };
  return { problem: `${file} cannot be read: ${parsed.problems[0]?.message ?? 'neither JSON nor YAML'}` };
}
