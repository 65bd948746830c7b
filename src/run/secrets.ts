import type { ArgSpec } from '../model/flow.js';
import type { JsonObject, JsonValue } from '../model/json.js';

/** Values that are never written or shown. */
export class Secrets {
  #values: { readonly name: string; readonly value: string }[] = [];

  /** Remembers the values of the arguments that the flow declares as secret. */
  add(specs: Readonly<Record<string, ArgSpec>>, args: JsonObject): void {
    for (const [name, spec] of Object.entries(specs)) {
      const value = args[name];
      if (!spec.secret || value === undefined || value === null) continue;
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      // One or two characters would mask half of every text and protect nothing.
      if (text.length > 2 && !this.#values.some((known) => known.value === text)) {
        this.#values.push({ name, value: text });
      }
    }
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

  #maskDeep(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.mask(value);
    if (typeof value === 'number') return this.appearsIn(String(value)) ? this.mask(String(value)) : value;
    if (Array.isArray(value)) return value.map((element) => this.#maskDeep(element));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.#maskDeep(member)]));
  }
}

/** The arguments as they may be written: secrets by name only. */
export function publicArgs(specs: Readonly<Record<string, ArgSpec>>, args: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, specs[name]?.secret ? '(secret)' : value]),
  );
}
