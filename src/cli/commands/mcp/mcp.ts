import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { listenForInterrupts } from '../../run/interrupt.js';
import { mcpHost } from './host.js';

export const command: Command = {
  usage: '[--read-only]',
  description: `A server for coding agents (Model Context Protocol, on stdin and stdout): they list, check, plan, run and
explain flows of this project, and ask you to decide approvals. taskflow mcp install CLIENT sets it up. It serves this
project and nothing outside of it; runs go on when the client hangs up.`,
  examples: [
    { command: 'taskflow mcp install claude', does: 'lets Claude Code use the flows of this project' },
    { command: 'taskflow mcp --read-only', does: 'the client can look, and neither run nor change anything' },
  ],
  flags: [{ name: 'read-only', type: 'boolean', help: 'only tools that look' }],
  positionals: [],
  async run(invocation, call) {
    const { err, flags, stdin } = invocation;
    if (stdin.isTerminal) err.write('waiting for a client on stdin; taskflow mcp install CLIENT sets one up\n');
    const { serveMcp } = await import('../../../mcp/serve.js');
    const interrupt = listenForInterrupts(() => {});
    await serveMcp(mcpHost(invocation, call), {
      readOnly: flags.boolean('read-only'),
      stdin: process.stdin,
      stdout: process.stdout,
      signal: interrupt.signal,
    });
    return EXIT.success;
  },
};
