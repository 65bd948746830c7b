import { parseDuration } from '../../util/duration.js';
import type { FlagSpec } from './flag-spec.js';

type FlagValue = boolean | string | number | readonly string[];

/** The flags of one invocation, read by name and type. To ask for a flag that was not declared is a bug and throws. */
export class FlagValues {
  readonly #specs: ReadonlyMap<string, FlagSpec>;
  readonly #values: ReadonlyMap<string, FlagValue>;

  constructor(specs: ReadonlyMap<string, FlagSpec>, values: ReadonlyMap<string, FlagValue>) {
    this.#specs = specs;
    this.#values = values;
  }

  boolean(name: string): boolean {
    return this.#get(name, 'boolean') === true;
  }
  string(name: string): string | undefined {
    return this.#get(name, 'string') as string | undefined;
  }
  number(name: string): number | undefined {
    return this.#get(name, 'number') as number | undefined;
  }
  /** Milliseconds. */
  duration(name: string): number | undefined {
    return this.#get(name, 'duration') as number | undefined;
  }
  list(name: string): readonly string[] {
    return (this.#get(name, 'list') as readonly string[] | undefined) ?? [];
  }
  /** Given at all, with or without its optional value. */
  has(name: string): boolean {
    this.#spec(name);
    return this.#values.has(name);
  }

  /** Names of the flags that were given. */
  given(): readonly string[] {
    return [...this.#values.keys()];
  }

  #spec(name: string): FlagSpec {
    const spec = this.#specs.get(name);
    if (!spec) throw new Error(`flag --${name} is not declared`);
    return spec;
  }
  #get(name: string, type: FlagSpec['type']): FlagValue | undefined {
    const spec = this.#spec(name);
    if (spec.type !== type) throw new Error(`flag --${name} is a ${spec.type}, not a ${type}`);
    const value = this.#values.get(name);
    return spec.optionalValue && value === true ? undefined : value;
  }
}

type ParsedArguments =
  | { readonly flags: FlagValues; readonly positionals: readonly string[] }
  | { readonly problem: ArgumentProblem };

export interface ArgumentProblem {
  readonly message: string;
  /** The typed name and the known ones, for the nearest match. */
  readonly unknown?: { readonly name: string; readonly known: readonly string[] };
  /** What to type instead, if known. */
  readonly hint?: string;
}

/**
 * Reads `--name value`, `--name=value`, `-n value`, grouped short booleans (`-ab`) and `--`. Written by hand, because
 * it names the wrong flag and the reason, knows types, and costs nothing at start-up.
 */
export function parseArguments(args: readonly string[], specs: readonly FlagSpec[]): ParsedArguments {
  const byName = new Map(specs.map((spec) => [spec.name, spec]));
  const byAlias = new Map(specs.filter((spec) => spec.alias).map((spec) => [spec.alias!, spec]));
  const values = new Map<string, FlagValue>();
  const positionals: string[] = [];

  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (arg === '--') {
      positionals.push(...args.slice(index + 1));
      break;
    }
    if (arg === '-' || !arg.startsWith('-') || isNegativeNumber(arg)) {
      positionals.push(arg);
      continue;
    }
    const { name, inline, spec, rest } = findFlag(arg, byName, byAlias);
    if (!spec) return { problem: unknownFlag(name, specs) };
    if (rest) args = [...args.slice(0, index + 1), `-${rest}`, ...args.slice(index + 1)];

    if (spec.type === 'boolean') {
      if (inline !== undefined && inline !== 'true' && inline !== 'false') {
        return { problem: { message: `--${spec.name} takes no value` } };
      }
      values.set(spec.name, inline !== 'false');
      continue;
    }
    let text = inline;
    if (text === undefined) {
      const next = args[index + 1];
      if (spec.optionalValue) {
        const isLater = positionals.length > 0 && spec.laterValue?.test(next ?? '');
        if (next === undefined || !(isLater || spec.optionalValue.test(next))) {
          values.set(spec.name, true);
          continue;
        }
      } else if (next === undefined || (next.startsWith('--') && byName.has(next.slice(2).split('=')[0]!))) {
        return { problem: { message: `--${spec.name} needs a value: --${spec.name} ${spec.value ?? 'VALUE'}` } };
      }
      text = next!;
      index++;
    }
    const read = readValue(spec, text);
    if ('message' in read) return { problem: read };
    if (spec.type === 'list') values.set(spec.name, [...((values.get(spec.name) as string[]) ?? []), text]);
    else values.set(spec.name, read.value);
  }
  return { flags: new FlagValues(byName, values), positionals };
}

function isNegativeNumber(arg: string): boolean {
  return /^-\d/.test(arg);
}

function findFlag(arg: string, byName: Map<string, FlagSpec>, byAlias: Map<string, FlagSpec>) {
  if (arg.startsWith('--')) {
    const equals = arg.indexOf('=');
    const name = equals < 0 ? arg.slice(2) : arg.slice(2, equals);
    return { name: `--${name}`, inline: equals < 0 ? undefined : arg.slice(equals + 1), spec: byName.get(name) };
  }
  const spec = byAlias.get(arg[1]!);
  const tail = arg.slice(2);
  if (!spec || tail === '') return { name: arg, inline: undefined, spec };
  if (spec.type === 'boolean') return { name: arg, inline: undefined, spec, rest: tail };
  return { name: arg, inline: tail.replace(/^=/, ''), spec };
}

function unknownFlag(name: string, specs: readonly FlagSpec[]): ArgumentProblem {
  const known = specs.filter((spec) => !spec.hidden).map((spec) => `--${spec.name}`);
  return { message: `unknown flag ${name}`, unknown: { name, known } };
}

function readValue(spec: FlagSpec, text: string): { readonly value: FlagValue } | ArgumentProblem {
  if (spec.choices && !spec.choices.includes(text)) {
    return {
      message: `--${spec.name} is one of ${spec.choices.join(', ')}, not ${JSON.stringify(text)}`,
      unknown: { name: text, known: spec.choices },
    };
  }
  if (spec.type === 'number') {
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value)) {
      return { message: `--${spec.name} needs a number, not ${JSON.stringify(text)}` };
    }
    return { value };
  }
  if (spec.type === 'duration') {
    const value = parseDuration(text);
    if (value === undefined) {
      return { message: `--${spec.name} needs a duration such as 90s, 5m or 2h, not ${JSON.stringify(text)}` };
    }
    return { value };
  }
  return { value: text };
}
