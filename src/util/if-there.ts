import { readdirSync, readFileSync } from 'node:fs';

/** A file's bytes; undefined where it is not there, or not ours to read. */
export function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

export function textIfThere(path: string): string | undefined {
  return readIfThere(path)?.toString('utf8');
}

/** Names in a folder; none where it is not there, or not ours to list. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The value of a JSON text; undefined where it is none, as one that was cut short by a crash. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A text with `%20` in it; as it stands where a percent sign is bare. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
