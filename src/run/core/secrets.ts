import { readFileSync } from 'node:fs';
import type { ArgSpec } from '../../model/flow.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import type { Output } from '../../model/outcome.js';
import type { RunOptions } from './options.js';
import type { Scope } from './scope.js';

interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Values that are never written or shown. */
export class Secrets {
  #values: Secret[] = [];

  /** Remembers the values of the arguments that the flow declares as secret. */
  add(specs: Readonly<Record<string, ArgSpec>>, args: JsonObject): void {
    for (const found of secretsIn(specs, args)) {
      if (!this.#values.some((known) => known.value === found.value)) this.#values.push(found);
    }
  }

  /** The same until the returned function is called: a batch with a secret in each row must not collect them all. */
  addForNow(specs: Readonly<Record<string, ArgSpec>>, args: JsonObject): () => void {
    // Two rows may hold the same value: each has its own record of it, so that neither takes away the other's.
    const added = secretsIn(specs, args);
    this.#values.push(...added);
    return () => {
      if (added.length > 0) this.#values = this.#values.filter((known) => !added.includes(known));
    };
  }

  get values(): readonly string[] {
    return this.#values.map(({ value }) => value);
  }

  get any(): boolean {
    return this.#values.length > 0;
  }

  appearsIn(text: string): boolean {
    return this.#values.some(({ value }) => text.includes(value));
  }

  mask(text: string): string {
    let masked = text;
    for (const { name, value } of this.#values) masked = masked.replaceAll(value, `(secret ${name})`);
    return masked;
  }

  /** The same for every text inside a value. */
  maskValue<T extends JsonValue | undefined>(value: T): T {
    return this.any ? (this.#maskDeep(value as JsonValue) as T) : value;
  }

  /** The same object when nothing had to be hidden. Bytes that hold a secret are dropped: they cannot be masked. */
  maskOutput(output: Output): Output {
    const { base64, ...rest } = output;
    const bytes = base64 === undefined ? undefined : Buffer.from(base64, 'base64');
    const hidden = bytes !== undefined && this.values.some((value) => bytes.includes(value));
    const masked = this.maskValue(rest as JsonObject) as unknown as Output;
    const same = !hidden && masked.text === rest.text && JSON.stringify(masked.json) === JSON.stringify(rest.json);
    if (same) return output;
    return hidden || base64 === undefined ? masked : { ...masked, base64 };
  }

  /** Also true for a file that cannot be looked into. */
  appearInFile(path: string): boolean {
    try {
      const bytes = readFileSync(path);
      return this.values.some((value) => bytes.includes(value));
    } catch {
      // Gone or unreadable: it cannot be kept either, and what keeps it says why.
      return true;
    }
  }

  #maskDeep(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.mask(value);
    if (typeof value === 'number') return this.values.includes(String(value)) ? this.mask(String(value)) : value;
    if (Array.isArray(value)) return value.map((element) => this.#maskDeep(element));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.#maskDeep(member)]));
  }
}

const ofScopes = new WeakMap<Pick<Scope, 'flow' | 'args'>, readonly string[]>();

/**
 * The secret arguments of a run and of one flow in it, the longest first. Not those of other rows and flows: whether they
 * are known at the moment is a matter of chance, and keys are not.
 */
export function scopeSecrets(
  run: Pick<RunOptions, 'flow' | 'args'>,
  scope: Pick<Scope, 'flow' | 'args'>,
): readonly string[] {
  const known = ofScopes.get(scope);
  if (known) return known;
  const found = [...secretsIn(run.flow.args, run.args), ...secretsIn(scope.flow.args, scope.args)];
  const values = [...new Set(found.map(({ value }) => value))].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  ofScopes.set(scope, values);
  return values;
}

function secretsIn(specs: Readonly<Record<string, ArgSpec>>, args: JsonObject): Secret[] {
  const found: Secret[] = [];
  for (const [name, spec] of Object.entries(specs)) {
    const value = args[name];
    if (!spec.secret || value === undefined || value === null) continue;
    // One or two characters would mask half of every text and protect nothing.
    for (const text of textsIn(value).filter((each) => each.length > 2)) {
      for (const spelled of spellings(text)) found.push({ name, value: spelled });
    }
  }
  return found;
}

/** A value as the text that it becomes, and each text inside of it: `{args.login.password}` shows a part. */
function textsIn(value: JsonValue): string[] {
  if (typeof value === 'string') return [value];
  const inside = typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
  return [JSON.stringify(value), ...inside.filter((text) => text !== 'true' && text !== 'false' && text !== 'null')];
}

/** Shorter lines of a secret are in every text, and say nothing. */
const TELLING_LINE = 8;

/** As it is; line by line, as programs print it; and as JSON writes quotes, backslashes and line ends. The longest first. */
function spellings(text: string): string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.length >= TELLING_LINE);
  const plain = [text, ...lines];
  const all = new Set(plain.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]));
  return [...all].sort((a, b) => b.length - a.length);
}

/** The arguments as they may be written: secrets by name only. */
export function publicArgs(specs: Readonly<Record<string, ArgSpec>>, args: JsonObject): JsonObject {
  if (!Object.values(specs).some((spec) => spec.secret)) return args;
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, specs[name]?.secret ? '(secret)' : value]),
  );
}
