import { mkdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The environment that the suite was started with. */
    readonly outside: NodeJS.ProcessEnv;
  }
}

/** What a test may know of the machine: where programs are, and the settings of the suite itself. */
const KEPT = /^(PATH|TMPDIR|NODE_ENV|TEST|VITEST\w*|TASKFLOW_(FULL|STEPS|SERVERS|NEEDS_BROWSER)|UPDATE_FIXTURES)$/;

/** Tests see neither the user's home, language and settings nor a repository around the temporary folder. */
export default function setup(project: TestProject): () => void {
  const outside = { ...process.env };
  project.provide('outside', outside);
  for (const name of Object.keys(outside)) if (!KEPT.test(name)) delete process.env[name];
  Object.assign(process.env, cleanEnvironment());
  mkdirSync(process.env['HOME']!, { recursive: true });
  return () => void Object.assign(process.env, outside);
}

/** Also what each command of a test starts with. */
export function cleanEnvironment(): Record<string, string> {
  const folder = tmpdir();
  return {
    HOME: join(folder, 'home'),
    LANG: 'C.UTF-8',
    // Shared, since all that lies there is the compiled code of the one command.
    XDG_CACHE_HOME: join(folder, 'cache'),
    GIT_CEILING_DIRECTORIES: folder,
    GIT_CONFIG_NOSYSTEM: '1',
  };
}

/** A folder for derived files of its own need not have the command compiled once more. */
export function shareCompiledCode(cacheHome: string): void {
  const shared = join(cleanEnvironment()['XDG_CACHE_HOME']!, 'taskflow/code');
  mkdirSync(shared, { recursive: true, mode: 0o700 });
  mkdirSync(join(cacheHome, 'taskflow'), { recursive: true });
  symlinkSync(shared, join(cacheHome, 'taskflow/code'));
}
