import { interleave } from '../lib/interleave.mjs';
import { createProject } from '../lib/project.mjs';
import { TASKFLOW } from '../lib/taskflow.mjs';
import { startServer } from '../mcp/client.mjs';
import { startInProcess } from '../mcp/in-process.mjs';

const PHASES = 50;
const CALLS = 20;

/** The server for coding agents: until it answers its first message, and a call that reads a journal. */
export const mcp = {
  name: 'mcp',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    say('the server for coding agents');
    const project = createProject('mcp');
    const phases = Array.from({ length: PHASES }, (_, i) => ({ id: `p${i}`, type: 'script', run: ['echo', `${i}`] }));
    project.write('flow.json', JSON.stringify({ name: 'flow', phases }));
    await project.taskflow('run', './flow.json');
    await ready(project, { options, results });
    await call(project, { options, results });
    project.remove();
  },
};

async function ready(project, { options, results }) {
  results.addTable({ id: 'mcp', title: 'MCP server, until it is ready', base: 'node -e 0', unit: 'ms' });
  const start = async () => {
    const started = performance.now();
    const server = await startServer(TASKFLOW, project.dir);
    const time = [performance.now() - started];
    await server.close();
    return { time };
  };
  const cases = [
    { name: 'node -e 0', sample: async () => ({ time: [await project.node('-e', '0')] }) },
    { name: 'taskflow mcp', sample: start },
  ];
  results.addAll('mcp', await interleave(cases, { ...options, rounds: options.rounds * 3 }));
}

async function call(project, { options, results }) {
  const title = `How a run of ${PHASES} phases went, by a tool call`;
  results.addTable({ id: 'mcp-call', title, base: 'runs show, in the process', unit: 'ms' });
  const [server, inProcess] = [await startServer(TASKFLOW, project.dir), await startInProcess(project.dir)];
  const command = async () => JSON.parse(await inProcess.ask(['runs', 'show', '--json', '--', 'last'])).ms;
  const tool = async () => {
    const started = performance.now();
    const line = await server.call('run_status', { run: 'last' });
    const time = performance.now() - started;
    if (JSON.parse(line).result?.structuredContent?.state !== 'success') throw new Error(line.slice(0, 300));
    return time;
  };
  const many = (once) => async () => {
    const time = [];
    for (let i = 0; i < CALLS; i += 1) time.push(await once());
    return { time };
  };
  const cases = [
    { name: 'runs show, in the process', sample: many(command) },
    { name: 'run_status', sample: many(tool) },
  ];
  // The first round makes both warm.
  await interleave(cases, { ...options, rounds: 1 });
  results.addAll('mcp-call', await interleave(cases, options));
  await Promise.all([server.close(), inProcess.close()]);
}
