import { MCP_FLAGS, serveHere } from '../commands/mcp/serve-here.js';
import { endProcess, withLostOutput } from './end-process.js';
import { invocationHere } from './here.js';

/**
 * A bundle of its own: `taskflow mcp` is ready before the command line is loaded, which the first call of a tool does.
 * False where the whole command line is needed; nothing has been read or written then.
 */
export async function answered(args: readonly string[]): Promise<boolean> {
  const invocation = await invocationHere(args, MCP_FLAGS);
  if (!invocation || invocation.positionals.length > 0) return false;
  const endWithBug = async (error: unknown) => (await import('./dispatch.js')).endWithBug(error, args);
  process.on('uncaughtException', (error) => void endWithBug(error));
  try {
    const status = await serveHere(invocation, async () => (await import('./dispatch.js')).mcpHost(invocation));
    endProcess(withLostOutput(status));
  } catch (error) {
    await endWithBug(error);
  }
  return true;
}
