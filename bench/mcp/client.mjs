import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { benchEnvironment } from '../lib/run-process.mjs';

const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

/**
 * A process that answers lines with lines, one at a time.
 * @param {string[]} argv @param {string} cwd
 */
export function talkTo(argv, cwd) {
  const [program = '', ...args] = argv;
  const child = spawn(program, args, { cwd, env: benchEnvironment(), stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  let hear = (/** @type {string} */ _line) => {};
  createInterface({ input: child.stdout }).on('line', (line) => hear(line));
  return {
    /** The line as it came: what a client makes of it is no work of the server. @param {object} message */
    ask(message) {
      const answer = /** @type {Promise<string>} */ (
        new Promise((resolve) => {
          hear = resolve;
        })
      );
      child.stdin.write(`${JSON.stringify(message)}\n`);
      return answer;
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

/** A server that has introduced itself. @param {string} taskflow @param {string} cwd */
export async function startServer(taskflow, cwd) {
  const server = talkTo(['node', taskflow, 'mcp'], cwd);
  await server.ask({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE });
  return {
    close: server.close,
    /** @param {string} name @param {object} args */
    call: (name, args) =>
      server.ask({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: args } }),
  };
}
