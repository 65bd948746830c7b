// `node bullmq-driver.mjs PEER_DIR URL TOPICS AT_ONCE SOCKET`: a job per question in BullMQ; one that is done adds the
// next.
import { createRequire } from 'node:module';
import { ask, openAgent } from './ask.cjs';
import { questionOf, STEPS, topicsOf } from './topics.cjs';

const [dir, url, topics, atOnce, socket] = process.argv.slice(2);
const require = createRequire(`${dir}/package.json`);
const { Queue, Worker } = require('bullmq');
const IORedis = require('ioredis');

const connect = () => new IORedis({ path: socket, maxRetriesPerRequest: null });
const agent = openAgent(true, Number(atOnce));
const connections = [connect(), connect()];
const queue = new Queue('calls', { connection: connections[0] });
const removed = { removeOnComplete: true, removeOnFail: true };
let left = Number(topics);
let finish;
const finished = new Promise((resolve) => {
  finish = resolve;
});

const worker = new Worker(
  'calls',
  async ({ data: { topic, step, before } }) => {
    const answer = await ask({ url, agent }, questionOf(STEPS[step], topic, before));
    if (step + 1 < STEPS.length) await queue.add('ask', { topic, step: step + 1, before: answer }, removed);
    else if (--left === 0) finish();
  },
  { connection: connections[1], concurrency: Number(atOnce) },
);
worker.on('failed', (_job, error) => {
  throw error;
});
await queue.addBulk(topicsOf(left).map((topic) => ({ name: 'ask', data: { topic, step: 0 }, opts: removed })));
await finished;
await worker.close();
await queue.close();
for (const connection of connections) connection.disconnect();
agent.destroy();
