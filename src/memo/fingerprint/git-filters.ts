import { ask } from './git-repository.js';
import type { SourceContext } from './source.js';

/**
 * Git settings that switch off the filters which the repository itself configures: `git status` would execute them.
 * Filters that the user has configured (git-lfs, usually) stay on.
 */
export async function withoutOwnFilters(
  top: string,
  context: SourceContext,
): Promise<{ readonly settings: readonly string[] } | { readonly failed: string }> {
  const listed = await ask(['config', '--list', '--show-scope', '--name-only', '-z'], context, top);
  if ('failed' in listed) return listed;
  const words = listed.stdout.split('\0');
  const names = new Set<string>();
  for (let i = 0; i + 1 < words.length; i += 2) {
    const name = /^filter\.(.+)\.(?:clean|process)$/s.exec(words[i + 1]!)?.[1];
    if (name !== undefined && OF_REPOSITORY.has(words[i]!)) names.add(name);
  }
  for (const name of names) {
    // Such a name cannot be written into a setting.
    if (/[=\n]/.test(name)) return { failed: `the repository configures a filter that would be executed: ${name}` };
  }
  return { settings: [...names].flatMap(settingsOf) };
}

const OF_REPOSITORY: ReadonlySet<string> = new Set(['local', 'worktree']);

function settingsOf(name: string): string[] {
  return ['clean=', 'process=', 'required=false'].flatMap((setting) => ['-c', `filter.${name}.${setting}`]);
}
