import { join } from 'node:path';
import { type Project, STATE_DIR } from '../util/project.js';

/** A settings file: where it is, and the name that messages use for it. */
export interface ConfigFile {
  readonly source: 'user' | 'project';
  readonly path: string;
  readonly name: string;
}

export function configFile(project: Pick<Project, 'root' | 'home'>, source: 'user' | 'project'): ConfigFile {
  return source === 'project'
    ? { source, path: join(project.root, STATE_DIR, 'config.yaml'), name: `${STATE_DIR}/config.yaml` }
    : {
        source,
        path: join(project.home, '.pi/agent/taskflows/config.yaml'),
        name: '~/.pi/agent/taskflows/config.yaml',
      };
}
