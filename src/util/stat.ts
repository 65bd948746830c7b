import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs';

const IF_THERE = { throwIfNoEntry: false } as const;

/** Undefined when the path does not exist or is not accessible. */
export function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path, IF_THERE);
  } catch {
    // ENOTDIR, EACCES, ELOOP: the same as not being there, to every caller.
    return undefined;
  }
}

/** The same, of a link itself. */
export function lstatIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path, IF_THERE);
  } catch {
    // As above.
    return undefined;
  }
}

/** Names in a folder; none where there is no folder. Does not follow a link, because callers remove what they find. */
export function namesInFolder(path: string): string[] {
  try {
    return lstatIfThere(path)?.isDirectory() ? readdirSync(path) : [];
  } catch {
    // Not readable, or removed meanwhile.
    return [];
  }
}
