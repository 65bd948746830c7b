import { resolve } from 'node:path';
import type { ArgSpec } from '../model/flow.js';
import type { JsonValue } from '../model/json.js';
import { isForbiddenName } from '../model/names.js';
import { isReallyInside, relativePath } from '../util/inside.js';
import { nearestName } from '../util/nearest.js';

interface ArgProblem {
  readonly name: string;
  readonly message: string;
  readonly hint?: string;
  /** The flow declares no such argument: `suggestArguments` finds the one that was meant. */
  readonly unknown?: boolean;
}

type BoundArgs = { readonly args: Readonly<Record<string, JsonValue>> } | { readonly problems: readonly ArgProblem[] };

interface BindOptions {
  /** Root of the project, which a `path` argument may not leave. */
  readonly root: string;
  /**
   * `text` (the default): values may come from a command line, so a text for a `json` argument is JSON.
   * `json`: values have their types already (`with`, rows of a `.json` file), and a text is a text.
   */
  readonly source?: 'text' | 'json';
}

type Converted = { readonly value: JsonValue } | { readonly problem: string };

/** Binds the given values to the declared arguments; reports all problems at once. */
export function bindArgs(
  specs: Readonly<Record<string, ArgSpec>>,
  given: Readonly<Record<string, JsonValue>>,
  options: BindOptions,
): BoundArgs {
  const problems: ArgProblem[] = [];
  const args: Record<string, JsonValue> = Object.create(null);
  const known = Object.keys(specs);
  for (const name of Object.keys(given)) {
    if (isForbiddenName(name)) problems.push({ name, message: `"${name}" is not allowed as an argument's name` });
    else if (!Object.hasOwn(specs, name)) problems.push(unknownArgument(name, known));
  }
  for (const [name, spec] of Object.entries(specs)) {
    const found = Object.hasOwn(given, name) ? given[name] : undefined;
    if (found === undefined) {
      if (spec.default !== undefined) args[name] = spec.default;
      else if (spec.required) problems.push(missingArgument(name, spec));
      continue;
    }
    const converted = convertArg(spec, found, options);
    if ('value' in converted) args[name] = converted.value;
    else problems.push({ name, message: `argument "${name}" ${converted.problem}` });
  }
  return problems.length > 0 ? { problems } : { args: { ...args } };
}

function unknownArgument(name: string, known: readonly string[]): ArgProblem {
  const hint = known.length > 0 ? `it takes: ${known.join(', ')}` : 'it takes no arguments';
  return { name, message: `the flow has no argument "${name}"`, hint, unknown: true };
}

/**
 * The same problems, with the nearest known name where there is one. Separate, because the distance function is loaded
 * on demand.
 */
export async function suggestArguments(
  problems: readonly ArgProblem[],
  specs: Readonly<Record<string, ArgSpec>>,
): Promise<readonly ArgProblem[]> {
  const suggested: ArgProblem[] = [];
  for (const problem of problems) {
    const nearest = problem.unknown ? await nearestName(problem.name, Object.keys(specs)) : undefined;
    suggested.push(nearest === undefined ? problem : { ...problem, hint: `did you mean "${nearest}"?` });
  }
  return suggested;
}

function missingArgument(name: string, spec: ArgSpec): ArgProblem {
  const about = spec.description ? ` (${spec.description})` : '';
  return { name, message: `argument "${name}" is required${about}`, hint: `add --arg ${name}=…` };
}

/** Converts one value to its declared type. Also used for defaults, when a flow is checked. */
export function convertArg(spec: ArgSpec, given: JsonValue, { root, source = 'text' }: BindOptions): Converted {
  if (spec.untyped) return { value: given };
  switch (spec.type) {
    case 'string':
      return convertText(given);
    case 'number':
      return convertNumber(spec, given);
    case 'boolean':
      return convertBoolean(given);
    case 'enum':
      return convertEnum(spec, given);
    case 'path':
      return typeof given === 'string' ? convertPath(given, root) : { problem: 'is no path: it is not a text' };
    case 'json':
      return typeof given === 'string' && source === 'text' ? convertJson(given) : { value: given };
  }
}

/** A number or a boolean has one plain spelling as text; a list or an object has not. */
function convertText(given: JsonValue): Converted {
  if (typeof given === 'string') return { value: given };
  if (typeof given === 'number' || typeof given === 'boolean') return { value: String(given) };
  return { problem: `has to be a text, not ${describe(given)}` };
}

function convertNumber(spec: ArgSpec, given: JsonValue): Converted {
  const isNumeral = typeof given === 'string' && /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(given);
  const value = typeof given === 'number' ? given : isNumeral ? Number(given) : Number.NaN;
  if (!Number.isFinite(value)) return { problem: `has to be a number, not ${describe(given)}` };
  if (spec.minimum !== undefined && value < spec.minimum) return { problem: `has to be at least ${spec.minimum}` };
  if (spec.maximum !== undefined && value > spec.maximum) return { problem: `may be at most ${spec.maximum}` };
  return { value };
}

function convertBoolean(given: JsonValue): Converted {
  if (typeof given === 'boolean') return { value: given };
  const word = typeof given === 'string' ? given.trim().toLowerCase() : given;
  if (word === 'true' || word === 'yes' || word === 'on' || word === '1' || word === 1) return { value: true };
  if (word === 'false' || word === 'no' || word === 'off' || word === '0' || word === 0) return { value: false };
  return { problem: `has to be true or false, not ${describe(given)}` };
}

/** Exact first; then by spelling, because a command line has only texts. */
function convertEnum(spec: ArgSpec, given: JsonValue): Converted {
  const values = spec.values ?? [];
  const found = values.find((value) => value === given) ?? values.find((value) => String(value) === String(given));
  if (found !== undefined) return { value: found };
  return { problem: `has to be one of ${values.map(String).join(', ')}, not ${describe(given)}` };
}

function convertJson(text: string): Converted {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { problem: `has to be JSON: ${(error as Error).message}` };
  }
}

/** Kept relative to the project root with forward slashes, so that the same file is the same argument everywhere. */
function convertPath(given: string, root: string): Converted {
  if (given === '' || given.includes('\0')) return { problem: 'is no path' };
  const absolute = resolve(root, given);
  if (!isReallyInside(root, absolute)) {
    return { problem: `has to stay inside the project, and ${describe(given)} does not` };
  }
  return { value: relativePath(root, absolute) };
}

function describe(value: JsonValue): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
