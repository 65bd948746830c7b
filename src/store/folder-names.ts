import { type Dir, opendirSync } from 'node:fs';

/** The names in a folder, read one by one: a million of them need no memory. None for a folder that does not exist. */
export function* eachName(dir: string): Generator<string> {
  let folder: Dir;
  try {
    folder = opendirSync(dir, { bufferSize: 1_024 });
  } catch {
    // Nothing was kept yet.
    return;
  }
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) yield entry.name;
  } finally {
    folder.closeSync();
  }
}
