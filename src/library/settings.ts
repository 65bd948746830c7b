import { loadConfig } from '../config/load.js';
import { runnerType } from '../config/runners.js';
import { CONFIG_DEFAULTS, type Config, type RunnerConfig } from '../model/config.js';
import type { Project } from '../util/project.js';
import { FlowError } from './flow-error.js';
import { requireTrusted } from './trust.js';

/** Settings that a program gives instead of the settings files. What it leaves out has its default. */
export interface GivenConfig extends Partial<Omit<Config, 'runners' | 'cache' | 'iteration' | 'limits'>> {
  /** By name. The `type` may be left out where `command` or `baseUrl` says enough, as in the settings files. */
  readonly runners?: Readonly<Record<string, Partial<RunnerConfig>>>;
  readonly cache?: Partial<Config['cache']>;
  readonly iteration?: Partial<Config['iteration']>;
  readonly limits?: Partial<Config['limits']>;
}

/** The settings of the project and the user, from their files. Throws `FlowError` if those have problems. */
export async function loadSettings(project: Project): Promise<Config> {
  await requireTrusted(project);
  const { config, problems } = await loadConfig(project);
  const errors = problems.filter((problem) => problem.severity === 'error');
  if (errors.length > 0) throw new FlowError(errors);
  return config;
}

/** Throws where the type of a runner cannot be known. */
export function completeConfig(given: GivenConfig): Config {
  const { cache, iteration, limits } = CONFIG_DEFAULTS;
  return {
    ...CONFIG_DEFAULTS,
    ...given,
    runners: Object.fromEntries(Object.entries(given.runners ?? {}).map(([name, own]) => [name, complete(name, own)])),
    cache: { ...cache, ...given.cache, ...(given.cache?.dir !== undefined && { dirFrom: 'user' as const }) },
    iteration: { ...iteration, ...given.iteration },
    limits: { ...limits, ...given.limits },
  };
}

function complete(name: string, own: Partial<RunnerConfig>): RunnerConfig {
  const type = runnerType(name, (field) => own[field]);
  if (type === undefined) throw new Error(`runner ${name} does not say what it is: give it a command, or a baseUrl`);
  const needs = type === 'command' ? 'command' : type === 'openai' ? 'baseUrl' : undefined;
  if (needs && own[needs] === undefined) throw new Error(`runner ${name} of type ${type} needs ${needs}`);
  return { ...own, type };
}
