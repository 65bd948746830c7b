import { loadConfig } from '../config/load.js';
import { CONFIG_DEFAULTS, type Config } from '../model/config.js';
import type { Project } from '../util/project.js';
import { FlowError } from './flow-error.js';

/** Settings that a program gives instead of the settings files. What it leaves out has its default. */
export interface GivenConfig extends Partial<Omit<Config, 'cache' | 'iteration'>> {
  readonly cache?: Partial<Config['cache']>;
  readonly iteration?: Partial<Config['iteration']>;
}

/** The settings of the project and the user, as files say them. Throws `FlowError` if something is wrong there. */
export async function loadSettings(project: Project): Promise<Config> {
  const { config, problems } = await loadConfig(project);
  const errors = problems.filter((problem) => problem.severity === 'error');
  if (errors.length > 0) throw new FlowError(errors);
  return config;
}

export function completeConfig(given: GivenConfig): Config {
  const { cache, iteration } = CONFIG_DEFAULTS;
  return {
    ...CONFIG_DEFAULTS,
    ...given,
    cache: { ...cache, ...given.cache },
    iteration: { ...iteration, ...given.iteration },
  };
}
