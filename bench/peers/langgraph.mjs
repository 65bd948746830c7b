import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { installFromNpm, peerDir } from '../lib/install.mjs';
import { benchEnvironment } from '../lib/run-process.mjs';

const DRIVER = fileURLToPath(new URL('./langgraph-driver.mjs', import.meta.url));

/** @type {import('../lib/contender.mjs').Contender} */
export const langgraph = {
  name: 'LangGraph',
  note: 'in one process: its start-up is not counted, and its cache dies with it',
  prepare: () =>
    installFromNpm('langgraph', {
      '@langchain/langgraph': '1.4.18',
      '@langchain/core': '1.2.13',
      '@langchain/langgraph-checkpoint': '1.1.5',
      // A later one asks for a core that is not published.
      '@langchain/langgraph-sdk': '1.12.0',
    }),
  async open({ dir, graph, command }) {
    const commands = Object.fromEntries(graph.phases.map(({ id }) => [id, command(id)]));
    const child = fork(DRIVER, [peerDir('langgraph')], {
      cwd: dir,
      env: benchEnvironment(),
      stdio: 'inherit',
      // It says of every large graph that it listens too often.
      execArgv: ['--no-warnings'],
    });
    const gone = once(child, 'exit').then(() => ({ failed: 'the driver ended' }));
    const ask = async (request) => {
      child.send(request);
      const answer = await Promise.race([once(child, 'message').then(([message]) => message), gone]);
      if (answer.failed) throw new Error(answer.failed);
      return answer;
    };
    await ask({ type: 'open', graph, commands });
    return {
      clean: () => ask({ type: 'clean' }),
      run: async () => (await ask({ type: 'run' })).ms,
      async close() {
        if (child.connected) child.disconnect();
        await gone;
      },
    };
  },
};
