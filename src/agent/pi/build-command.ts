import type { RunnerConfig } from '../../model/config.js';
import { flag } from '../arguments.js';
import type { ClientCommand } from '../client.js';
import { promptOf } from '../prompt.js';
import type { RunnerRequest } from '../runner.js';

/** Other clients' names for the same tools. */
const TOOLS: Readonly<Record<string, string>> = {
  Read: 'read',
  Bash: 'bash',
  Edit: 'edit',
  MultiEdit: 'edit',
  Write: 'write',
  Grep: 'grep',
  Glob: 'find',
  LS: 'ls',
};

export function buildPiCommand(request: RunnerRequest, config: RunnerConfig): ClientCommand {
  const { system, task } = promptOf(request);
  return {
    argv: [
      ...(config.command ?? ['pi']),
      ...['--mode', 'json', '-p', '--no-session'],
      ...flag('--provider', config.provider),
      ...flag('--model', request.model ?? config.model),
      ...flag('--thinking', thinkingLevel(request.thinking ?? config.thinking)),
      ...toolFlags(request.tools),
      // pi replaces a text that is the name of a file by that file. With a line end, the text is no file name.
      ...flag('--append-system-prompt', system && `${system}\n`),
      ...(config.args ?? []),
    ],
    input: task,
    env: {},
    defaults: { PI_OFFLINE: '1', PI_TELEMETRY: '0' },
  };
}

function toolFlags(tools: readonly string[] | undefined): string[] {
  if (tools === undefined) return [];
  if (tools.length === 0) return ['--no-tools'];
  return ['--tools', [...new Set(tools.map((tool) => TOOLS[tool] ?? tool))].join(',')];
}

function thinkingLevel(thinking: string | undefined): string | undefined {
  return thinking === 'max' ? 'xhigh' : thinking;
}
