// The floor of workers: `node workers-driver.mjs PORT JOBS SECONDS`. As many BullMQ jobs with the payload of a unit,
// done by a process of its own (`--work PORT`) that starts the same program. Prints the milliseconds of all of them.
import { execFile, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Queue, QueueEvents, Worker } from 'bullmq';

const QUEUE = 'bare';
const execute = promisify(execFile);

function work(port) {
  const start = async ({ data }) => (await execute('sleep', [data.seconds])).stdout;
  const worker = new Worker(QUEUE, start, { connection: { host: '127.0.0.1', port } });
  void worker.waitUntilReady().then(() => process.send('ready'));
}

async function measure(port, jobs, seconds) {
  const child = fork(fileURLToPath(import.meta.url), ['--work', String(port)]);
  await new Promise((resolve) => child.once('message', resolve));
  const connection = { host: '127.0.0.1', port };
  const queue = new Queue(QUEUE, { connection });
  const events = new QueueEvents(QUEUE, { connection });
  await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
  const data = { seconds, text: 'x'.repeat(2_000) };
  const started = performance.now();
  const added = await Promise.all(Array.from({ length: jobs }, () => queue.add('unit', data)));
  await Promise.all(added.map((job) => job.waitUntilFinished(events)));
  process.stdout.write(String(performance.now() - started));
  child.kill('SIGKILL');
  process.exit(0);
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--work') work(Number(rest[0]));
else await measure(Number(first), Number(rest[0]), rest[1]);
