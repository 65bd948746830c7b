import { shellWord } from '../../util/shell-word.js';

/** What a person types to go on with a batch. */
export function resumeCommand({ ref, over }: { readonly ref: string; readonly over?: string }): string {
  return `taskflow batch ${shellWord(ref)} --over ${shellWord(over ?? 'FILE')} --resume`;
}
