import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { textIfThere } from '../util/if-there.js';
import { isInside } from '../util/inside.js';
import type { Project } from '../util/project.js';
import { shellWord } from '../util/shell-word.js';
import { configFile } from './files.js';

const SAFE_VARIABLE = 'TASKFLOW_SAFE_PROJECTS';

type Who = Pick<Project, 'home' | 'env'>;

export interface RefusedProject {
  readonly message: string;
  readonly hint: string;
}

/** The refusal; undefined when the user has marked this folder as safe. */
export async function refusedUnlessSafe(root: string, why: string, who: Who): Promise<RefusedProject | undefined> {
  const listed = await safeInSettings(who);
  const given = (who.env[SAFE_VARIABLE] ?? '').split(delimiter);
  if ([...listed, ...given].some((path) => means(path, root, who.home))) return undefined;
  const value = listed.length === 0 ? root : `[${[...listed, root].join(', ')}]`;
  const trust = `taskflow config set --user safe.projects ${shellWord(value)}, or ${SAFE_VARIABLE}=${root}`;
  return { message: why, hint: `if you trust that folder: ${trust}; --root DIR names another project` };
}

/** A folder, all below one (`/path/*`), or all that there are (`*`). */
function means(written: string, root: string, home: string): boolean {
  const path = written.startsWith('~/') ? join(home, written.slice(2)) : written;
  if (path === '*') return true;
  if (!path.startsWith('/')) return false;
  return path.endsWith('/*') ? isBelow(real(path.slice(0, -2)), root) : real(path) === root;
}

function isBelow(folder: string, root: string): boolean {
  return folder !== root && isInside(folder, root);
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The folder does not exist.
    return path;
  }
}

/** Read from the user's file alone: a project must not decide whether it is trusted. */
async function safeInSettings({ home }: Who): Promise<readonly string[]> {
  const file = configFile({ root: '', home }, 'user');
  const text = textIfThere(file.path);
  // The user's settings are missing or unreadable: nothing is allowed.
  if (text === undefined) return [];
  const { checkConfigText } = await import('./check-file.js');
  const { values } = await checkConfigText(text, file.name);
  return (values['safe.projects']?.value as readonly string[] | undefined) ?? [];
}
