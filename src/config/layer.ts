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
