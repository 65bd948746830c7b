import { execFile, execFileSync, fork, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { interleave } from '../lib/interleave.mjs';
import { HOME, WORK } from '../lib/paths.mjs';
import { TASKFLOW } from '../lib/taskflow.mjs';

const DRIVER = fileURLToPath(new URL('./workers-driver.mjs', import.meta.url));
const CACHE = fileURLToPath(new URL('./shared-driver.mjs', import.meta.url));
const execute = promisify(execFile);
const JOBS = 10;
const SECONDS = '0.3';
/** A core for each worker: the run, the queue and the cache have next to nothing to do while units compute. */
const CORES = 2;
const BURNS = 8;
/** The same work however long it takes: about a second. */
const BURN = 'node -e "for (let i = 0; i < 2e9; i++);"';

/** Units on workers: what one costs beside a bare job of the queue, and what a second worker brings. */
export const workers = {
  name: 'workers',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    if (spawnSync('redis-server', ['--version']).error) {
      say('workers: left out, redis-server is not installed');
      return;
    }
    say(`workers: ${JOBS} units`);
    const team = await startTeam();
    try {
      results.addTable({ id: 'workers', title: 'A unit on a worker', base: 'bare BullMQ job', unit: 'ms' });
      const job = { script: `sleep ${SECONDS}`, workers: 1, unit: JOBS };
      const cases = [
        { name: 'bare BullMQ job', sample: async () => ({ 'one unit': [(await team.bare()) / JOBS] }) },
        { name: 'taskflow', sample: async () => ({ 'one unit': [(await team.run(job)) / JOBS] }) },
      ];
      results.addAll('workers', await interleave(cases, options));
      if (availableParallelism() < CORES) {
        say(`workers: a second one is not measured on fewer than ${CORES} cores`);
        return;
      }
      const title = `${BURNS} units of about a second of CPU`;
      results.addTable({ id: 'workers-cpu', title, base: '1 worker', unit: 'ms' });
      const of = (count) => ({
        name: `${count} worker${count === 1 ? '' : 's'}`,
        sample: async () => ({ time: [await team.run({ script: BURN, workers: count, unit: BURNS })] }),
      });
      const bare = (count) => ({
        name: `${count} at once, without workers`,
        sample: async () => ({ time: [await burnBare(count)] }),
      });
      results.addAll('workers-cpu', await interleave([of(1), of(2), bare(1), bare(2)], options));
    } finally {
      team.stop();
    }
  },
};

async function startTeam() {
  const folder = `${WORK}/workers`;
  const [root, clone] = [`${folder}/a`, `${folder}/w`];
  mkdirSync(`${root}/.pi/taskflows`, { recursive: true });
  mkdirSync(`${folder}/redis`, { recursive: true });
  const port = await freePort();
  const queue = `redis://127.0.0.1:${port}`;
  const quiet = ['--port', String(port), '--dir', `${folder}/redis`, '--save', '', '--appendonly', 'yes'];
  const redis = spawn('redis-server', quiet, { stdio: 'ignore' });
  const cache = fork(CACHE, ['--serve']);
  const cachePort = await new Promise((resolve) => cache.once('message', resolve));
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64');
  const env = { ...process.env, HOME, XDG_CACHE_HOME: `${HOME}/cache` };
  env.BENCH_KEY = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const trust = { sign: { env: 'BENCH_KEY' }, keys: { bench: key } };
  const remote = { url: `http://127.0.0.1:${cachePort}/team` };
  writeFileSync(`${root}/.pi/taskflows/config.yaml`, JSON.stringify({ cache: { remote, trust } }));
  const git = (...args) => execFileSync('git', args, { cwd: root, stdio: 'pipe' });
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=b', '-c', 'user.email=b@example.org', 'commit', '-qm', 'all');
  git('clone', '-q', root, clone);
  let made = 0;
  const work = async (count) => {
    const children = Array.from({ length: count }, () => {
      const args = [TASKFLOW, 'worker', '--queue', queue];
      return spawn('node', args, { cwd: clone, env, stdio: ['ignore', 'ignore', 'pipe'] });
    });
    await Promise.all(children.map((child) => new Promise((resolve) => child.stderr.once('data', resolve))));
    return () => Promise.all(children.map(end));
  };
  return {
    bare: async () => Number((await execute('node', [DRIVER, String(port), String(JOBS), SECONDS])).stdout),
    /** From the first unit that begins to the end of the phase, with the workers there. The first unit warms up. */
    run: async ({ script, workers: count, unit: units }) => {
      made += 1;
      const over = Array.from({ length: units }, (_, index) => `${made}-${index}`);
      const phase = { type: 'map', run: ['sh', '-c', `${script} # $0`, '{item}'], cache: { scope: 'cross-run' } };
      const phases = [
        { id: 'warm-up', ...phase, over: Array.from({ length: count }, (_, index) => `${made}-w${index}`) },
        { id: 'all', ...phase, over, dependsOn: ['warm-up'] },
      ];
      writeFileSync(`${root}/flow.json`, JSON.stringify({ name: 'bench', phases }));
      const stop = await work(count);
      const argv = [TASKFLOW, 'run', './flow.json', '--events', '--fresh', '--workers', queue];
      const { stdout } = await execute('node', argv, { cwd: root, env, maxBuffer: 1 << 26 }).finally(stop);
      const events = stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      const at = (type, id) => events.find((event) => event.type === type && event.phase === id).at;
      return at('phase-end', 'all') - at('phase-end', 'warm-up');
    },
    stop: () => {
      redis.kill('SIGKILL');
      cache.kill('SIGKILL');
    },
  };
}

/** What the machine itself gains from doing so many at once. */
async function burnBare(count) {
  const started = performance.now();
  const chain = async () => {
    for (let left = BURNS / count; left > 0; left -= 1) await execute('sh', ['-c', BURN]);
  };
  await Promise.all(Array.from({ length: count }, chain));
  return performance.now() - started;
}

function end(child) {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  return ended;
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
