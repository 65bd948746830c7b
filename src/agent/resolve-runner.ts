import { type Config, knownRunners, noSuchRunner, type RunnerConfig } from '../model/config.js';
import type { Failure } from '../model/failure.js';
import type { Project } from '../util/project.js';
import { CLIENTS, type ClientName } from './clients.js';
import { createRunner } from './create-runner.js';
import { detectRunner } from './detect.js';
import type { Runner } from './runner.js';

export interface RunnerChoice {
  readonly project: Project;
  readonly config: Config;
  /** The command line overrides the phase, the phase its flow, the flow the configuration. */
  readonly cliRunner?: string | undefined;
  readonly phaseRunner?: string | undefined;
  readonly flowRunner?: string | undefined;
}

export type ResolvedRunner = { readonly runner: Runner } | { readonly failure: Failure };

/** The runner that a phase uses. Starts nothing. */
export async function resolveRunner(choice: RunnerChoice): Promise<ResolvedRunner> {
  const { project, config } = choice;
  const named = choice.cliRunner ?? choice.phaseRunner ?? choice.flowRunner ?? config.runner;
  if (named === undefined) {
    const found = detectRunner(project);
    return 'failure' in found ? found : resolveRunner({ project, config, phaseRunner: found.name });
  }
  const settings = settingsOf(named, config);
  if (!settings) {
    return { failure: { code: 'no-runner', ...noSuchRunner(named, knownRunners(Object.keys(config.runners))) } };
  }
  return { runner: createRunner(named, settings, project) };
}

/** A built-in client needs no configuration to be named. */
function settingsOf(name: string, config: Config): RunnerConfig | undefined {
  if (Object.hasOwn(config.runners, name)) return config.runners[name];
  return Object.hasOwn(CLIENTS, name) ? { type: name as ClientName } : undefined;
}
