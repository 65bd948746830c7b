import type { RunnerConfig } from '../../model/config.js';
import { flag, hasFlag } from '../arguments.js';
import type { ClientCommand } from '../client.js';
import { promptOf } from '../prompt.js';
import type { RunnerRequest } from '../runner.js';

/** Other clients' names for the same tools. */
const TOOLS: Readonly<Record<string, string>> = {
  read: 'Read',
  bash: 'Bash',
  edit: 'Edit',
  write: 'Write',
  grep: 'Grep',
  find: 'Glob',
  glob: 'Glob',
  ls: 'LS',
};

export function buildClaudeCommand(request: RunnerRequest, config: RunnerConfig): ClientCommand {
  const { args } = config;
  const { system, task } = promptOf(request);
  const thinking = request.thinking ?? config.thinking;
  const decided = hasFlag(args, '--permission-mode', '--dangerously-skip-permissions');
  return {
    argv: [
      ...(config.command ?? ['claude']),
      ...['-p', '--output-format', 'stream-json', '--verbose', '--no-session-persistence'],
      // Without these a long answer is silent, and would be ended by the idle timeout.
      '--include-partial-messages',
      // No person is there to grant permission, and agents are meant to edit files.
      ...(decided ? [] : ['--permission-mode', 'acceptEdits']),
      ...flag('--model', request.model ?? config.model),
      ...flag('--effort', effort(thinking)),
      ...toolFlags(request.tools),
      ...flag('--append-system-prompt', system),
      ...(args ?? []),
    ],
    input: task,
    env: {
      // claude refuses to start inside another claude.
      CLAUDECODE: undefined,
      CLAUDE_CODE_ENTRYPOINT: undefined,
      ...(thinking === 'off' && { MAX_THINKING_TOKENS: '0' }),
    },
    defaults: {
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      // The flow decides about retries.
      CLAUDE_CODE_MAX_RETRIES: '2',
    },
  };
}

/** A tool that the flow names is also allowed: naming it is the permission. */
function toolFlags(tools: readonly string[] | undefined): string[] {
  if (tools === undefined) return [];
  const names = [...new Set(tools.map((tool) => TOOLS[tool] ?? tool))].join(',');
  return names === '' ? ['--tools', ''] : ['--tools', names, '--allowedTools', names];
}

function effort(thinking: string | undefined): string | undefined {
  if (thinking === 'off') return undefined;
  return thinking === 'minimal' ? 'low' : thinking;
}
