import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { RunnerConfig } from '../../model/config.js';
import type { ClientCommand } from '../client.js';
import { promptOf } from '../prompt.js';
import type { RunnerRequest } from '../runner.js';

const FLAG_WITH_VALUE = /^(--?[\w-]+=)(.+)$/s;

/**
 * Any program: the prompt on stdin, the rest in variables. What is not asked for is unset, not inherited. A system
 * prompt that no variable can hold goes before the task.
 */
export function buildCommand(
  request: RunnerRequest,
  config: RunnerConfig,
  exists: (path: string) => boolean = existsSync,
): ClientCommand {
  const argv = (config.command ?? []).map((element, index) =>
    index === 0 && !element.includes('/') ? element : fromRoot(element, request, exists),
  );
  const { system, task } = promptOf(request);
  return {
    argv,
    input: task,
    env: {
      TASKFLOW_SYSTEM_PROMPT: system,
      TASKFLOW_MODEL: request.model,
      TASKFLOW_THINKING: request.thinking,
      TASKFLOW_TOOLS: request.tools?.join(','),
    },
  };
}

/** Relative paths start at the project root, wherever the program is started. */
function fromRoot(element: string, request: RunnerRequest, exists: (path: string) => boolean): string {
  const { cwd, projectRoot } = request;
  if (cwd === projectRoot) return element;
  const [, flag = '', value = ''] = FLAG_WITH_VALUE.exec(element) ?? ['', '', element];
  if (value === '' || isAbsolute(value) || value.startsWith('-')) return element;
  const path = resolve(projectRoot, value);
  return exists(path) ? `${flag}${path}` : element;
}
