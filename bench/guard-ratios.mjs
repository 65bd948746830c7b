import { startModelServer } from './calls/start-server.mjs';
import { createCallsProject, writeTopics } from './calls/taskflow.mjs';
import { makeGraph } from './lib/graph.mjs';
import { FLOOR, WORK } from './lib/paths.mjs';
import { createProject } from './lib/project.mjs';
import { runProcess } from './lib/run-process.mjs';
import { floor, TASKFLOW, taskflowJson, taskflowYaml } from './lib/taskflow.mjs';
import { measureNode } from './lib/usage.mjs';
import { createWorkspace } from './lib/workspace.mjs';
import { startServer } from './mcp/client.mjs';
import { LIMITS } from './targets.mjs';
import { createGlobWork } from './workloads/glob.mjs';
import { peakMemory } from './workloads/memory.mjs';
import { measureStores } from './workloads/store.mjs';

/** The best of a few samples each, taken in turns: noise only ever adds time. */
async function bestRatio(over, under, samples) {
  let [a, b] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let i = 0; i < samples; i += 1) {
    b = Math.min(b, await under());
    a = Math.min(a, await over());
  }
  return a / b;
}

const emptyProgram = () => runProcess({ argv: ['node', '-e', '0'], cwd: WORK });

async function openGraph(contender, shape, size) {
  const dir = `${WORK}/guard/${contender.name.replaceAll(/\W+/g, '-')}`;
  return contender.open(createWorkspace(dir, makeGraph(shape, size)));
}

const warmRun = (contender, shape, size) => async () => {
  const [ours, least] = [await openGraph(contender, shape, size), await openGraph(floor, shape, size)];
  await ours.run();
  await least.run();
  return bestRatio(ours.run, least.run, 4);
};

const leafChanged = (shape, size) => async () => {
  const edited = async (contender) => {
    const workspace = createWorkspace(`${WORK}/guard/leaf-${contender.name}`, makeGraph(shape, size));
    const session = await contender.open(workspace);
    await session.run();
    return () => {
      workspace.editLeaf();
      return session.run();
    };
  };
  return bestRatio(await edited(taskflowJson), await edited(floor), 4);
};

const coldRun = (shape, size) => async () => {
  const [ours, least] = [await openGraph(taskflowJson, shape, size), await openGraph(floor, shape, size)];
  const fromCold = (session) => async () => {
    await session.clean();
    return session.run();
  };
  return bestRatio(fromCold(ours), fromCold(least), 3);
};

async function onePhaseWarm() {
  const session = await openGraph(taskflowJson, 'chain', 1);
  await session.run();
  return bestRatio(session.run, emptyProgram, 8);
}

async function memoryRatio() {
  const workspace = createWorkspace(`${WORK}/guard/memory`, makeGraph('fan', 300));
  const session = await taskflowJson.open(workspace);
  await session.run();
  return (await peakMemory([TASKFLOW, 'run', './flow.json'], workspace.dir)) / (await peakMemory(['-e', '0'], WORK));
}

/** Processor time: the calls themselves take as long for everybody. */
async function callsRatio() {
  const topics = 100;
  const server = await startModelServer();
  const baseUrl = server.url('whole', 20);
  const project = createCallsProject('guard/calls', { type: 'openai', baseUrl, model: 'small' });
  writeTopics(project, topics);
  const ours = async () => {
    project.forget();
    return (await project.measure('batch', './flow.json', '--over', 'topics.txt', '--concurrency', '50')).cpuMs;
  };
  const plain = async () => (await measureNode([`${FLOOR}/calls.cjs`, baseUrl, String(topics), '50'], WORK)).cpuMs;
  try {
    return await bestRatio(ours, plain, 3);
  } finally {
    await server.stop();
    project.remove();
  }
}

async function storeRatio(over, under) {
  const samples = await measureStores([100, 2000], 6);
  const least = ([size, measure]) => Math.min(...samples[size][measure]);
  return least(over) / least(under);
}

async function globRatio() {
  const { project, run, walk } = await createGlobWork('guard/glob', 2000);
  await run();
  const ratio = await bestRatio(run, () => walk(), 4);
  project.remove();
  return ratio;
}

/** Until the server for coding agents has answered its first message. */
async function mcpReadyRatio() {
  const project = createProject('guard/mcp');
  const ready = async () => {
    const started = performance.now();
    const server = await startServer(TASKFLOW, project.dir);
    const took = performance.now() - started;
    await server.close();
    return took;
  };
  const ratio = await bestRatio(ready, emptyProgram, 6);
  project.remove();
  return ratio;
}

/** Another machine, a busy one, a smaller size: up to this many times the target is no slip. */
const SLACK = 2;

export const RATIOS = [
  {
    name: 'taskflow --version : node -e 0',
    limit: SLACK * LIMITS.version,
    measure: () => bestRatio(() => createProject('guard/version').taskflow('--version'), emptyProgram, 8),
  },
  { name: 'one-phase warm run : node -e 0', limit: SLACK * LIMITS.onePhase, measure: onePhaseWarm },
  { name: 'warm chain of 1,000 : floor', limit: SLACK * LIMITS.warm, measure: warmRun(taskflowJson, 'chain', 1000) },
  { name: 'warm fan of 300 : floor', limit: SLACK * LIMITS.warm, measure: warmRun(taskflowJson, 'fan', 300) },
  { name: 'fan of 300, one leaf changed : floor', limit: SLACK * LIMITS.leaf, measure: leafChanged('fan', 300) },
  {
    name: 'warm chain of 200 from YAML : floor',
    limit: SLACK * LIMITS.warmYaml,
    measure: warmRun(taskflowYaml, 'chain', 200),
  },
  { name: 'cold fan of 100 : floor', limit: SLACK * LIMITS.cold, measure: coldRun('fan', 100) },
  { name: 'peak memory of a warm fan of 300 : node -e 0', limit: SLACK * LIMITS.memory, measure: memoryRatio },
  {
    name: 'put at 2,000 entries : at 100',
    limit: SLACK * LIMITS.put,
    measure: () => storeRatio([2000, 'put'], [100, 'put']),
  },
  {
    name: 'a hit : reading and parsing the file',
    limit: SLACK * LIMITS.hit,
    measure: () => storeRatio([2000, 'get'], [2000, 'read and parse (floor)']),
  },
  { name: 'MCP server ready : node -e 0', limit: SLACK * LIMITS.mcpReady, measure: mcpReadyRatio },
  { name: 'batch of 100 × 6 calls, CPU : a plain loop', limit: 12, measure: callsRatio },
  {
    name: 'glob: over 2,000 unchanged files : walking and stat-ing them',
    limit: SLACK * LIMITS.glob,
    measure: globRatio,
  },
];
