import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findOnPath, installFromNpm, peerDir } from '../lib/install.mjs';
import { WORK } from '../lib/paths.mjs';
import { langgraph } from '../peers/langgraph.mjs';

const driver = (name) => fileURLToPath(new URL(`./${name}-driver.mjs`, import.meta.url));

/**
 * Who makes the same calls: `open` starts what it needs and says with which arguments Node is to be started.
 *
 * @typedef {{ url: string, topics: number, atOnce: number }} Work
 * @type {{
 *   name: string, prepare: () => Promise<{ unavailable: string } | { version: string }>,
 *   open: () => Promise<{ args: (work: Work) => string[], close: () => void }>,
 * }[]}
 */
export const CALL_PEERS = [
  {
    name: 'BullMQ + Redis',
    async prepare() {
      const redis = await findOnPath('redis-server');
      if ('unavailable' in redis) return { unavailable: 'redis-server is not on this machine' };
      const installed = await installFromNpm('bullmq', { bullmq: '6.7.0', ioredis: '5.8.2' });
      return 'unavailable' in installed ? installed : { version: `${installed.version}, Redis ${redis.version}` };
    },
    async open() {
      const socket = `${WORK}/redis.sock`;
      const server = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', WORK], {
        stdio: 'ignore',
      });
      await Promise.race([listening(socket), once(server, 'exit').then(() => undefined)]);
      const args = ({ url, topics, atOnce }) => [driver('bullmq'), peerDir('bullmq'), url, topics, atOnce, socket];
      return { args: (work) => args(work).map(String), close: () => server.kill() };
    },
  },
  {
    name: 'LangGraph',
    prepare: langgraph.prepare,
    async open() {
      const args = ({ url, topics, atOnce }) => [driver('langgraph'), peerDir('langgraph'), url, topics, atOnce];
      return { args: (work) => args(work).map(String), close: () => {} };
    },
  },
];

async function listening(socket) {
  while (!existsSync(socket)) await sleep(20);
}
