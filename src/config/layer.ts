import type { CheckedFile, WrittenValue } from './check-file.js';
import type { ConfigFile } from './files.js';

/** One settings file with what it says. */
export interface Layer extends ConfigFile {
  readonly checked: CheckedFile;
}

/** A value with the file it comes from. */
export interface PlacedValue extends WrittenValue {
  readonly layer: Layer;
}

/** The merged settings by full key. */
export type Placed = ReadonlyMap<string, PlacedValue>;

/** The values of the keys under a prefix such as `models.`, by the rest of their keys. */
export function valuesUnder<T>(prefix: string, placed: Placed): Readonly<Record<string, T>> {
  const found = [...placed].filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(found.map(([key, { value }]) => [key.slice(prefix.length), value as T]));
}
