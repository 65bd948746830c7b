import './zod-config.js';
import type { Readable, Writable } from 'node:stream';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { VERSION } from '../util/version.js';
import { toToolResult } from './answer.js';
import { APPROVE } from './approve.js';
import { ASSEMBLE } from './assemble-tool.js';
import { type BoundedHost, bounded } from './bounded.js';
import { INSTRUCTIONS } from './guide.js';
import type { McpHost } from './host.js';
import { inputProblem } from './line.js';
import { CHANGING, LOOKING } from './looking-tools.js';
import { registerPrompts } from './prompts.js';
import { registerResources } from './resources.js';
import { RUNNING, WAIT_RUN } from './run-tools.js';
import { standard } from './schemas.js';
import type { McpCall, McpClient, Tool, ToolReply } from './tool.js';
import { TRUSTING, VALIDATOR } from './validator.js';
import { Wire } from './wire.js';

interface ServeMcpOptions {
  readonly readOnly: boolean;
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Ends the server, as a disconnecting client does. */
  readonly signal: AbortSignal;
}

/** Serves one client until it disconnects. Runs that were started go on. The host is loaded by the first call. */
export async function serveMcp(
  lend: () => Promise<McpHost>,
  { readOnly, stdin, stdout, signal }: ServeMcpOptions,
): Promise<void> {
  let lent: Promise<BoundedHost> | undefined;
  const host = () => {
    lent ??= lend().then(bounded);
    return lent;
  };
  const tools = [...LOOKING, WAIT_RUN, ...(readOnly ? [] : [...RUNNING, ...CHANGING, APPROVE, ASSEMBLE])];
  await new Promise<void>((resolve) => {
    const wire = new Wire(stdin, stdout, resolve);
    serveStdio(() => createServer(host, tools), { transport: wire });
    signal.addEventListener('abort', () => void wire.close(), { once: true });
  });
  await (await lent)?.idle();
}

function createServer(lend: () => Promise<McpHost>, tools: readonly Tool[]): McpServer {
  const options = { instructions: INSTRUCTIONS, jsonSchemaValidator: VALIDATOR };
  const server = new McpServer({ name: 'taskflow', version: VERSION }, options);
  for (const tool of tools) {
    const { name, title, description, hints: annotations } = tool;
    const config = { title, description, annotations, outputSchema: standard(tool.output, TRUSTING) };
    server.registerTool(name, { ...config, inputSchema: standard(tool.input) }, async (input, context) => {
      const reply = await answer(tool, input, { host: await lend(), context, client: clientOf(server, context) });
      return 'resultType' in reply ? reply : toToolResult(reply);
    });
  }
  registerResources(server, lend);
  registerPrompts(server);
  return server;
}

async function answer(tool: Tool, input: Record<string, unknown>, call: McpCall): Promise<ToolReply> {
  const { flow } = input;
  const problem = inputProblem(input) ?? (typeof flow === 'string' ? call.host.flowProblem(flow) : undefined);
  return problem === undefined ? tool.answer(input, call) : { problem };
}

interface Introduction {
  readonly [CLIENT_INFO_META_KEY]?: Implementation;
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
}

/** New clients introduce themselves in each call, old ones once. */
function clientOf({ server }: McpServer, { mcpReq }: ServerContext): McpClient {
  const said = (mcpReq.envelope ?? {}) as Introduction;
  const info = said[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  const { elicitation } = said[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {};
  const name = (info?.name ?? 'unknown').replaceAll(/[^\w.@/-]+/g, '-').slice(0, 60);
  // A client that names no mode of elicitation supports forms.
  const asksPeople = elicitation !== undefined && ('form' in elicitation || !('url' in elicitation));
  return { name, asksPeople };
}
