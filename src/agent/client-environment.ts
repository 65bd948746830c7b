import type { RunnerConfig } from '../model/config.js';
import type { Project } from '../util/project.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The request's environment, and those variables that the configuration names, from the project's. */
export function clientEnvironment(environment: Environment, config: RunnerConfig, project: Project): Environment {
  const named = Object.fromEntries((config.env ?? []).map((name) => [name, project.env[name]]));
  return { ...environment, ...named };
}
