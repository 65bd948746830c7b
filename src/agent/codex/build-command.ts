import type { RunnerConfig } from '../../model/config.js';
import { flag, hasFlag } from '../arguments.js';
import type { ClientCommand } from '../client.js';
import { promptOf } from '../prompt.js';
import type { RunnerRequest } from '../runner.js';

const CHANGING = /^(?:write|edit|multiedit|bash|shell|notebookedit|apply_patch)$/i;

export function buildCodexCommand(request: RunnerRequest, config: RunnerConfig): ClientCommand {
  const { args } = config;
  const { system, task } = promptOf(request);
  const decided = hasFlag(args, '-s', '--sandbox', '--dangerously-bypass-approvals-and-sandbox', '--approve-for-me');
  return {
    argv: [
      ...(config.command ?? ['codex']),
      ...['exec', '--json', '--skip-git-repo-check', '--ephemeral', '--color', 'never'],
      ...(decided ? [] : ['--sandbox', sandbox(request.tools)]),
      ...flag('--model', request.model ?? config.model),
      ...setting('model_provider', config.provider),
      ...setting('model_reasoning_effort', effort(request.thinking ?? config.thinking)),
      ...setting('developer_instructions', system),
      ...['-c', 'check_for_update_on_startup=false'],
      ...(args ?? []),
      // The prompt comes by stdin.
      '-',
    ],
    input: task,
    env: {},
  };
}

/** It has no list of tools to choose from; what can be granted is whether it may change anything. */
function sandbox(tools: readonly string[] | undefined): 'read-only' | 'workspace-write' {
  return tools === undefined || tools.some((tool) => CHANGING.test(tool)) ? 'workspace-write' : 'read-only';
}

/** Values are TOML, whose strings hold what JSON's do. */
function setting(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : ['-c', `${name}=${JSON.stringify(value).replaceAll('\u007f', '\\u007f')}`];
}

function effort(thinking: string | undefined): string | undefined {
  if (thinking === 'off') return 'none';
  return thinking === 'max' ? 'xhigh' : thinking;
}
