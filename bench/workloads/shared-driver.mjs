// Measures what a shared store costs: `node shared-driver.mjs BUNDLE FOLDER ROUNDS LOOKUPS`.
// The server is a process of its own (`--serve`), as everywhere else. Prints samples in milliseconds as JSON.
import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { fileURLToPath } from 'node:url';

const SOCKETS = 16;
/** How far away the server is: with none, a hit is compared with the memory of the same machine. */
const AWAY_MS = 2;

/** Keeps what is PUT, in memory. */
function serve() {
  const kept = new Map();
  const server = createServer((asked, response) => {
    if (asked.method === 'PUT') {
      const chunks = [];
      asked.on('data', (chunk) => chunks.push(chunk));
      asked.on('end', () => {
        kept.set(asked.url, Buffer.concat(chunks));
        response.writeHead(201).end();
      });
      return;
    }
    const body = kept.get(asked.url);
    const answer = () => response.writeHead(body ? 200 : 404, { 'content-length': body?.length ?? 0 }).end(body);
    setTimeout(answer, AWAY_MS);
  });
  server.listen(0, '127.0.0.1', () => process.send?.(server.address().port));
}

/** The floor: the same bytes with the same number of connections, read and thrown away. */
async function plainGets(port, keys, sockets) {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets });
  const one = (key) =>
    new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path: `/team/ac/${key}`, agent }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks)));
      });
      asked.on('error', reject);
      asked.end();
    });
  const ms = await timed(() => eachOf(keys, one, sockets));
  agent.destroy();
  return ms;
}

async function eachOf(keys, work, atOnce) {
  if (atOnce > 1) return void (await Promise.all(keys.map(work)));
  for (const key of keys) await work(key);
}

async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function measure(bundle, folder, { rounds, lookups }) {
  const { openShared, openStore, newKeyPair, systemClock } = await import(bundle);
  const server = fork(fileURLToPath(import.meta.url), ['--serve']);
  const port = await new Promise((resolve) => server.once('message', resolve));
  const keys = newKeyPair();
  const project = { root: folder, home: folder, env: { KEY: keys.privateKey }, clock: systemClock };
  const limits = { maxBytes: 1e9, maxEntries: 1e6, maxAgeMs: 1e9 };
  const trust = { sign: { env: 'KEY' }, keys: { ci: keys.publicKey } };
  const config = { cache: { remote: { url: `http://127.0.0.1:${port}/team` }, trust } };
  const warn = (message) => {
    throw new Error(message);
  };
  const open = async (name) => {
    const disk = openStore({ dir: `${folder}/${name}`, project, limits });
    return { disk, session: await openShared({ config, disk, warn }) };
  };
  const names = Array.from({ length: lookups }, (_, index) => index.toString(16).padStart(64, '0'));
  const absent = names.map((name) => `f${name.slice(1)}`);
  const first = await open('first');
  for (const key of names) first.session.offer(entryOf(key));
  await first.session.end();
  const none = () => ({ 'one hit': [], 'look-ups': [] });
  const samples = { 'plain GET': none(), 'shared store': none() };
  const add = (row, column, ms) => samples[row][column].push(ms);
  const few = names.slice(0, Math.min(200, lookups));
  for (let round = 0; round < rounds; round += 1) {
    add('plain GET', 'one hit', (await plainGets(port, few, 1)) / few.length);
    add('plain GET', 'look-ups', await plainGets(port, absent, SOCKETS));
    const { session } = await open(`round-${round}`);
    const now = systemClock.now();
    const look = async (key) => session.fetch(key, { now });
    add('shared store', 'one hit', (await timed(() => eachOf(few, look, 1))) / few.length);
    add('shared store', 'look-ups', await timed(() => eachOf(absent, look, SOCKETS)));
    await session.end();
  }
  server.kill();
  rmSync(folder, { recursive: true, force: true });
  process.stdout.write(JSON.stringify(samples));
}

/** Of an ordinary phase: about two kilobytes. */
function entryOf(key) {
  const identity = { version: 3, flow: 'bench', phase: 'p', body: { task: 'x'.repeat(1000) }, inexact: true };
  const usage = { inputTokens: 100, cachedInputTokens: 0, outputTokens: 100, usd: 0.01 };
  const made = { createdAt: 1, creator: { taskflow: '0' }, runId: 'r', flow: 'bench', phase: 'p' };
  return {
    format: 1,
    key,
    identity,
    ...made,
    output: { text: 'y'.repeat(600), json: null },
    files: [],
    usage,
    durationMs: 5,
  };
}

if (process.argv[2] === '--serve') serve();
else {
  const [bundle, folder, rounds, lookups] = process.argv.slice(2);
  await measure(bundle, folder, { rounds: Number(rounds), lookups: Number(lookups) });
}
