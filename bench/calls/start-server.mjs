import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./model-server.cjs', import.meta.url));

/** Starts the model server in a process of its own. */
export async function startModelServer() {
  const child = fork(PROGRAM, { stdio: 'inherit' });
  const [{ port }] = await once(child, 'message');
  return {
    /** @param {'whole' | 'stream'} mode @param {number} delayMs */
    url: (mode, delayMs) => `http://127.0.0.1:${port}/${mode}/${delayMs}`,
    /** How many calls there were since the last time. */
    async takeCalls() {
      const answer = once(child, 'message');
      child.send('count');
      return (await answer)[0].calls;
    },
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
