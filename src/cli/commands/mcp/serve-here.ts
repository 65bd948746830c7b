import type { McpHost } from '../../../mcp/host.js';
import type { Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import type { FlagSpec } from '../../flags/flag-spec.js';
import { listenForInterrupts } from '../../run/interrupt.js';

export const MCP_FLAGS: readonly FlagSpec[] = [{ name: 'read-only', type: 'boolean', help: 'only tools that look' }];

/** Serves the client on stdin and stdout. What the command line lends is loaded when a tool is first called. */
export async function serveHere({ err, flags, stdin }: Invocation, load: () => Promise<McpHost>): Promise<number> {
  if (stdin.isTerminal) err.write('waiting for a client on stdin; taskflow mcp install CLIENT sets one up\n');
  const { serveMcp } = await import('../../../mcp/serve.js');
  let host: Promise<McpHost> | undefined;
  const lend = () => (host ??= load());
  const interrupt = listenForInterrupts(
    () => {},
    async () => (await host)?.killAll(),
  );
  await serveMcp(lend, {
    readOnly: flags.boolean('read-only'),
    stdin: process.stdin,
    stdout: process.stdout,
    signal: interrupt.signal,
  });
  return EXIT.success;
}
