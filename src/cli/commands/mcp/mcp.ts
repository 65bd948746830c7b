import type { Command } from '../../boot/command.js';
import { MCP_FLAGS, serveHere } from './serve-here.js';

export const command: Command = {
  usage: '[--read-only]',
  description: `A server for coding agents (Model Context Protocol, on stdin and stdout): they list, check, plan, run
and explain flows of this project, and ask you to decide approvals. taskflow mcp install CLIENT sets it up. It serves
this project and nothing outside of it; runs go on when the client hangs up.`,
  examples: [
    { command: 'taskflow mcp install claude', does: 'lets Claude Code use the flows of this project' },
    { command: 'taskflow mcp --read-only', does: 'the client can look, and neither run nor change anything' },
  ],
  flags: MCP_FLAGS,
  positionals: [],
  run: (invocation, call) => {
    return serveHere(invocation, async () => (await import('./host.js')).mcpHost(invocation, call));
  },
};
