import { readdirSync } from 'node:fs';

/** Names of the Markdown files in a folder, in order; none where there is no such folder. */
export function markdownNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .sort();
  } catch {
    // No such folder: most projects have no agents of their own.
    return [];
  }
}
