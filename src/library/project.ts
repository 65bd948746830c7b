import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { systemClock } from '../util/clock.js';
import type { Project } from '../util/project.js';

/** A project by its folder; this process's environment unless another one is given. */
export function openProject(root: string, env: Project['env'] = process.env): Project {
  return { root: realpathSync(resolve(root)), home: env['HOME'] ?? homedir(), env, clock: systemClock };
}
