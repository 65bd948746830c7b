import { join } from 'node:path';
import { type Project, STATE_DIR } from '../util/project.js';
import { lstatIfThere, statIfThere } from '../util/stat.js';

/** A folder with one of these is a project. */
export const MARKERS = ['.git', '.pi'] as const;

/** A user who can write one of these decides what is executed. */
const DECIDING_PATHS = ['.pi', STATE_DIR, `${STATE_DIR}/config.yaml`, '.pi/agents'];
const BY_EVERYBODY = 0o002;
const STICKY = 0o1000;

/** Why taskflow must not obey a project's folder; undefined when it is the user's own. */
export function distrustOf(root: string, env: Project['env']): string | undefined {
  const users = ownUsers(env);
  // On Windows, ownership of files works differently.
  if (users === undefined) return undefined;
  const folder = statIfThere(root)?.uid;
  // A folder of root, such as /tmp, says nothing: there the owner of `.pi` counts.
  if (folder !== undefined && folder !== 0 && !users.includes(folder)) return belongsTo(root, folder);
  for (const name of ['.git', ...DECIDING_PATHS]) {
    const path = join(root, name);
    // A user may own a link whose target belongs to another user.
    for (const stat of [lstatIfThere(path), statIfThere(path)]) {
      if (stat && !users.includes(stat.uid)) return belongsTo(path, stat.uid);
      if (stat && !stat.isSymbolicLink() && name !== '.git' && stat.mode & BY_EVERYBODY) return openToAll(path);
    }
  }
  return undefined;
}

/** The user; for root also the user who became root with sudo. */
function ownUsers(env: Project['env']): readonly number[] | undefined {
  const user = process.geteuid?.();
  if (user === undefined) return undefined;
  const before = /^\d{1,10}$/.test(env['SUDO_UID'] ?? '') ? [Number(env['SUDO_UID'])] : [];
  return user === 0 ? [0, ...before] : [user];
}

/** `shared`: like /tmp, where everybody may put a `.pi`. `open`: writable for others, perhaps by mistake. */
export function openness(folder: string): 'shared' | 'open' | 'private' {
  const mode = process.geteuid === undefined ? 0 : (statIfThere(folder)?.mode ?? 0);
  if (mode & STICKY) return 'shared';
  return mode & BY_EVERYBODY ? 'open' : 'private';
}

function belongsTo(path: string, uid: number): string {
  return `${path} belongs to user ${uid}, not to you`;
}

export function openToAll(path: string): string {
  return `${path} can be written by everybody`;
}
