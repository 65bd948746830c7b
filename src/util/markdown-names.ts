import { namesIn } from './if-there.js';

/** Names of the Markdown files in a folder, in order; none where there is no such folder. */
export function markdownNames(folder: string): readonly string[] {
  return namesIn(folder)
    .filter((name) => name.endsWith('.md'))
    .sort();
}
