import { CALL_PEERS } from '../calls/peers.mjs';
import { startModelServer } from '../calls/start-server.mjs';
import { createCallsProject, writeTopics } from '../calls/taskflow.mjs';
import { STEPS } from '../calls/topics.cjs';
import { interleave } from '../lib/interleave.mjs';
import { FLOOR, WORK } from '../lib/paths.mjs';
import { measureNode } from '../lib/usage.mjs';

const AT_ONCE = 50;
const DELAY_MS = 50;

/** A batch of topics, six calls each, to a model that answers in 50 ms; beside whoever else makes many calls. */
export const calls = {
  name: 'calls',
  /** @param {import('../lib/context.mjs').Context} context */
  run: (context) => measureCalls(context, { topics: context.options.quick ? 100 : 1000, withPeers: true }),
};

export const calls10000 = {
  name: 'calls-10000',
  /** @param {import('../lib/context.mjs').Context} context */
  run: (context) => measureCalls(context, { topics: context.options.quick ? 200 : 10_000, withPeers: false }),
};

async function measureCalls({ options, results, say }, { topics, withPeers }) {
  const id = `calls-${topics}`;
  const title = `A batch of ${topics.toLocaleString('en-US')} topics, six calls each, ${AT_ONCE} at once`;
  say(title);
  results.addTable({ id, title, base: 'floor', unit: '' });
  const server = await startModelServer();
  const peers = withPeers ? await openPeers(options, results) : [];
  try {
    const work = { url: server.url('whole', DELAY_MS), topics, atOnce: AT_ONCE };
    const cases = [...plainCases(work), ...peers.map(({ name, args }) => plainCase(name, args(work)))];
    cases.push(...taskflowCases(server, topics));
    results.addAll(id, await interleave(cases.map(counted(server, topics * STEPS.length)), options));
  } finally {
    for (const { close } of peers) close();
    await server.stop();
  }
}

async function openPeers({ peers: wanted }, results) {
  const open = [];
  for (const peer of CALL_PEERS) {
    if (wanted !== undefined && !wanted.some((name) => peer.name.toLowerCase().startsWith(name))) continue;
    const found = await peer.prepare();
    if ('unavailable' in found) results.addAbsent(peer.name, found.unavailable);
    else open.push({ name: peer.name, ...(await peer.open()) });
  }
  return open;
}

const plainCase = (name, args) => ({ name, measure: () => measureNode(args, WORK) });

function plainCases({ url, topics, atOnce }) {
  const args = [`${FLOOR}/calls.cjs`, url, String(topics), String(atOnce)];
  return [plainCase('floor', args), plainCase('a new connection per call', [...args, 'new-connections'])];
}

function taskflowCases(server, topics) {
  const variant = (name, mode, ...flags) => {
    const project = createCallsProject(`calls-${mode}`, {
      type: 'openai',
      baseUrl: server.url(mode, DELAY_MS),
      model: 'small',
    });
    writeTopics(project, topics);
    const args = ['batch', './flow.json', '--over', 'topics.txt', '--concurrency', String(AT_ONCE), ...flags];
    const measure = async () => {
      project.forget();
      return project.measure(...args);
    };
    return { name, measure };
  };
  return [
    variant('taskflow, no cache', 'whole', '--no-cache'),
    variant('taskflow, cross-run, --out', 'whole', '--out', 'out'),
    variant('taskflow, cross-run, streamed', 'stream'),
  ];
}

/** Whoever makes fewer or more calls than the others has not done the same work. */
const counted =
  (server, expected) =>
  ({ name, measure }) => ({
    name,
    async sample() {
      await server.takeCalls();
      const { wallMs, cpuMs, peakMb } = await measure();
      const made = await server.takeCalls();
      if (made !== expected) throw new Error(`made ${made} calls instead of ${expected}`);
      return { 'wall, ms': [wallMs], 'CPU per call, µs': [(cpuMs * 1000) / expected], 'peak memory, MB': [peakMb] };
    },
  });
