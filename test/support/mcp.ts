import { type ChildProcess, spawn } from 'node:child_process';
import { Client, type ElicitResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CLI, cliEnvironment } from './cli.js';

export type Era = 'legacy' | 'modern';

export interface McpOptions {
  readonly cwd: string;
  readonly era?: Era;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What the person does with a form; without it the client has none. */
  readonly onForm?: (message: string) => ElicitResult;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a tool answers is what the tests look at.
  readonly value: any;
}

export interface McpClient {
  readonly client: Client;
  readonly pid: number;
  call(name: string, args?: Record<string, unknown>, onProgress?: (message: string) => void): Promise<ToolAnswer>;
  close(): Promise<void>;
}

/** A real client of the library's, connected to the real command in a process of its own. */
export async function connectMcp({ cwd, era = 'modern', args = [], env, onForm }: McpOptions): Promise<McpClient> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'mcp', ...args],
    cwd,
    env: defined(cliEnvironment(cwd, env)),
  });
  const client = new Client(
    { name: 'test client', version: '1' },
    {
      capabilities: onForm ? { elicitation: { form: {} } } : {},
      versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' },
    },
  );
  if (onForm) client.setRequestHandler('elicitation/create', ({ params }) => onForm(params.message));
  await client.connect(transport);
  return {
    client,
    pid: transport.pid!,
    async call(name, given = {}, onProgress) {
      const options = { timeout: 60_000, ...(onProgress && { onprogress: report(onProgress) }) };
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: given }, options);
      const [first] = content as { text: string }[];
      return { isError: isError === true, text: first?.text ?? '', value: structuredContent };
    },
    close: () => client.close(),
  };
}

function report(onProgress: (message: string) => void) {
  return ({ progress, total, message }: { progress: number; total?: number; message?: string }) => {
    onProgress(`${progress}/${total} ${message}`);
  };
}

function defined(env: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Lines to and from the command, without a library in between. */
export interface RawMcp {
  readonly child: ChildProcess;
  /** What it has answered so far. */
  // biome-ignore lint/suspicious/noExplicitAny: as they come.
  readonly answers: any[];
  write(text: string): void;
  send(id: number, method: string, params?: unknown): void;
  /** The answer with this id. */
  // biome-ignore lint/suspicious/noExplicitAny: as it comes.
  answer(id: number | null, limitMs?: number): Promise<any>;
  readonly ended: Promise<number | null>;
}

export function rawMcp(cwd: string, args: readonly string[] = []): RawMcp {
  const env = cliEnvironment(cwd) as NodeJS.ProcessEnv;
  const child = spawn(process.execPath, [CLI, 'mcp', ...args], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const answers: { id?: number | null }[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) answers.push(JSON.parse(line));
  });
  child.stdin.on('error', () => {}); // It may have ended.
  const write = (text: string) => void child.stdin.write(text);
  return {
    child,
    answers,
    write,
    send: (id, method, params) => write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`),
    async answer(id, limitMs = 20_000) {
      for (const end = Date.now() + limitMs; Date.now() < end; await new Promise((done) => setTimeout(done, 10))) {
        const at = answers.findIndex((one) => one.id === id);
        if (at >= 0) return answers.splice(at, 1)[0];
      }
      throw new Error(`no answer to ${id}`);
    },
    ended: new Promise((resolve) => child.on('close', resolve)),
  };
}

export const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
};
