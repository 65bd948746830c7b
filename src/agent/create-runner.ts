import type { RunnerConfig } from '../model/config.js';
import type { Project } from '../util/project.js';
import { clientRunner } from './client-runner.js';
import { CLIENTS } from './clients.js';
import { commandRunner } from './command/command-runner.js';
import { openaiRunner } from './openai/openai-runner.js';
import type { Runner } from './runner.js';
import { sayingLimits } from './usage-limit.js';

/** A runner from its configuration. Starts nothing. */
export function createRunner(name: string, config: RunnerConfig, project: Project): Runner {
  return sayingLimits(makeRunner(name, config, project), project.clock);
}

function makeRunner(name: string, config: RunnerConfig, project: Project): Runner {
  switch (config.type) {
    case 'pi':
    case 'claude':
    case 'codex':
      return clientRunner(CLIENTS[config.type], { name, config, project });
    case 'openai':
      return openaiRunner(name, config, project);
    case 'command':
      return commandRunner(name, config, project);
  }
}
