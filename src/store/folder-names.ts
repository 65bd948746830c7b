import { type Dir, opendirSync } from 'node:fs';

/** What is in a folder, read piece by piece: a million names need no memory. Nothing for a folder that is not there. */
export function* namesIn(dir: string): Generator<string> {
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
