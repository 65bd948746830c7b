import { readFileSync } from 'node:fs';
import type { ArgSpec } from '../../model/flow.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import { type Output, StoredOutput } from '../../model/output.js';
import type { RunOptions } from './options.js';
import type { Scope } from './scope.js';
import { spellings } from './secret-spellings.js';
import { SecretStream } from './secret-stream.js';

interface Secret {
  readonly name: string;
  readonly value: string;
}

/** A piece of a secret that is cut off is one if it is this long, and a third of it. */
const PIECE = 8;
/** Of what the engine says: texts that quote others, and may cut them. */
const QUOTING = new Set(['message', 'detail', 'hint', 'error', 'partial', 'reason', 'remark']);

/** Values that are never written or shown. */
export class Secrets {
  /** Every spelling of each, the longest first: a secret may be a part of another one. */
  #values: Secret[] = [];
  #texts: readonly string[] = [];

  /** Remembers the values of the arguments that the flow declares as secret. */
  add(specs: Readonly<Record<string, ArgSpec>>, args: JsonObject): void {
    const known = new Set(this.values);
    this.#remember(secretsIn(specs, args).filter(({ value }) => !known.has(value)));
  }

  /** The same until the returned function is called: a batch with a secret in each row must not collect them all. */
  addForNow(specs: Readonly<Record<string, ArgSpec>>, args: JsonObject): () => void {
    // Two rows may hold the same value: each has its own record of it, so that neither removes the other's.
    const added = secretsIn(specs, args);
    this.#remember(added);
    return () => {
      if (added.length > 0) this.#keep(this.#values.filter((known) => !added.includes(known)));
    };
  }

  get values(): readonly string[] {
    return this.#texts;
  }

  get any(): boolean {
    return this.#values.length > 0;
  }

  appearsIn(text: string): boolean {
    return this.#values.some(({ value }) => text.includes(value));
  }

  /** Of a text of ours: large pieces of a secret are hidden too, since texts of others are cut in it. */
  mask(text: string): string {
    let masked = this.maskWhole(text);
    for (const secret of this.#values) masked = withoutPieces(masked, secret);
    return masked;
  }

  maskWhole(text: string): string {
    let masked = text;
    for (const { name, value } of this.#values) masked = masked.replaceAll(value, shown(name));
    return masked;
  }

  /** For a text that comes in pieces. */
  stream(): SecretStream {
    return new SecretStream(this);
  }

  /** The same for every text inside a value. */
  maskValue<T extends JsonValue | undefined>(value: T): T {
    return this.any ? (this.#maskDeep(value as JsonValue) as T) : value;
  }

  /** The same object when nothing had to be hidden. Bytes that hold a secret are dropped: they cannot be masked. */
  maskOutput(output: Output): Output {
    if (!this.any) return output;
    if (output instanceof StoredOutput) {
      const preview = this.maskWhole(output.preview);
      return preview === output.preview ? output : { text: preview, json: null };
    }
    const { base64, ...rest } = output;
    const bytes = base64 === undefined ? undefined : Buffer.from(base64, 'base64');
    const hidden = bytes !== undefined && this.values.some((value) => bytes.includes(value));
    const masked = this.maskValue(rest as unknown as JsonObject) as unknown as typeof rest;
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

  #remember(added: readonly Secret[]): void {
    if (added.length === 0) return;
    this.#keep([...this.#values, ...added].sort((a, b) => b.value.length - a.value.length));
  }

  #keep(values: Secret[]): void {
    this.#values = values;
    this.#texts = values.map(({ value }) => value);
  }

  /** `isData`: below a `json`, where the names of members are not ours. */
  #maskDeep(value: JsonValue, isData = false, isQuoting = false): JsonValue {
    if (typeof value === 'string') return isQuoting ? this.mask(value) : this.maskWhole(value);
    if (typeof value === 'number') return this.values.includes(String(value)) ? this.mask(String(value)) : value;
    if (Array.isArray(value)) return value.map((element) => this.#maskDeep(element, isData));
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([name, member]): [string, JsonValue] => [
      isData ? this.maskWhole(name) : name,
      this.#maskDeep(member, isData || name === 'json', !isData && QUOTING.has(name)),
    ]);
    return Object.fromEntries(members);
  }
}

function shown(name: string): string {
  return `(secret ${name})`;
}

/** Where the beginning or the end of a secret is left alone by a cut. */
function withoutPieces(text: string, { name, value }: Secret): string {
  const least = Math.max(PIECE, Math.ceil(value.length / 3));
  if (value.length <= least) return text;
  let masked = text;
  const head = value.slice(0, least);
  for (let at = masked.indexOf(head); at !== -1; at = masked.indexOf(head, at + 1)) {
    let end = at + least;
    while (end < masked.length && masked[end] === value[end - at]) end += 1;
    masked = masked.slice(0, at) + shown(name) + masked.slice(end);
  }
  const tail = value.slice(-least);
  for (let at = masked.indexOf(tail); at !== -1; at = masked.indexOf(tail, at + 1)) {
    const end = at + least;
    let start = at;
    while (start > 0 && masked[start - 1] === value[value.length - 1 - (end - start)]) start -= 1;
    masked = masked.slice(0, start) + shown(name) + masked.slice(end);
  }
  return masked;
}

const ofScopes = new WeakMap<Pick<Scope, 'flow' | 'args'>, readonly string[]>();

/**
 * The secret arguments of a run and of one flow in it, the longest first. Not those of other rows and flows: whether
 * they are known at the moment is a matter of chance, and keys are not.
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

/** The arguments as they may be written: secrets by name only. */
export function publicArgs(specs: Readonly<Record<string, ArgSpec>>, args: JsonObject): JsonObject {
  if (!Object.values(specs).some((spec) => spec.secret)) return args;
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, specs[name]?.secret ? '(secret)' : value]),
  );
}
