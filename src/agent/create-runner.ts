import type { RunnerConfig } from '../model/config.js';
import type { Project } from '../util/project.js';
import { commandRunner } from './command/command-runner.js';
import { openaiRunner } from './openai/openai-runner.js';
import type { Runner } from './runner.js';

/** A runner from its configuration. Starts nothing. */
export function createRunner(name: string, config: RunnerConfig, project: Project): Runner {
  switch (config.type) {
    case 'command':
      return commandRunner(name, config, project);
    case 'openai':
      return openaiRunner(name, config, project);
    default:
      return commandRunner(name, config, project);
  }
}
