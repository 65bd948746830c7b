import { type Stats, statSync } from 'node:fs';

/** Undefined when there is nothing, or nothing that may be looked at. */
export function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // ENOTDIR, EACCES, ELOOP: for everyone who asks this, the same as not being there.
    return undefined;
  }
}
