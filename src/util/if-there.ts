import { readdirSync, readFileSync } from 'node:fs';

/** A file's bytes; undefined where it does not exist or cannot be read. */
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

/** Names in a folder; none where it does not exist or cannot be listed. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The value of a JSON text; undefined where it is invalid, for example cut short by a crash. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Decodes `%20` and the like; returns the text unchanged where a percent sign is bare. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
