// The floor of a graph run: the least that any Node program must do for the same work. Read the flow, derive a key per
// phase from its text, its input file and the keys above it, read the result; or spawn the command and write its
// result. No checks, no journal, no messages. `node graph.cjs FLOW STORE [spawn-only]`
const { spawn } = require('node:child_process');
const { createHash, hash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');

const CONCURRENCY = 8;
const sha256 = hash ? (text) => hash('sha256', text) : (text) => createHash('sha256').update(text).digest('hex');

const [flowFile, store, mode] = process.argv.slice(2);
const { phases } = JSON.parse(readFileSync(flowFile, 'utf8'));
if (mode !== 'spawn-only') mkdirSync(store, { recursive: true });

const keys = new Map();
const waiting = new Map();
const followers = new Map();
const ready = [];
const misses = [];
let running = 0;
let last;

for (const phase of phases) {
  const needs = phase.dependsOn ?? [];
  waiting.set(phase.id, needs.length);
  for (const need of needs) {
    const list = followers.get(need);
    if (list) list.push(phase);
    else followers.set(need, [phase]);
  }
  if (needs.length === 0) ready.push(phase);
}
advance();
process.on('exit', () => process.stdout.write(`${last.output}\n`));

function advance() {
  for (const phase of ready) {
    const key = mode === 'spawn-only' ? 'unused' : keyOf(phase);
    const result = mode === 'spawn-only' ? undefined : read(key);
    if (result) settle(phase, key, result);
    else misses.push({ phase, key });
  }
  ready.length = 0;
  while (running < CONCURRENCY && misses.length > 0) execute(misses.shift());
}

function keyOf(phase) {
  const inputs = phase.cache.fingerprint.map((entry) => sha256(readFileSync(entry.slice('file:'.length))));
  const upstream = (phase.dependsOn ?? []).map((id) => keys.get(id));
  return sha256(JSON.stringify([phase.id, phase.type, phase.run, inputs, upstream]));
}

function read(key) {
  try {
    return JSON.parse(readFileSync(`${store}/${key}.json`, 'utf8'));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

function settle(phase, key, result) {
  keys.set(phase.id, key);
  last = result;
  for (const follower of followers.get(phase.id) ?? []) {
    const left = waiting.get(follower.id) - 1;
    waiting.set(follower.id, left);
    if (left === 0) ready.push(follower);
  }
}

function execute({ phase, key }) {
  running += 1;
  const [program, ...args] = phase.run;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.stderr.resume();
  child.on('error', fail);
  child.on('close', (code) => {
    if (code !== 0) fail(new Error(`${phase.id} ended with ${code}`));
    running -= 1;
    const result = { key, phase: phase.id, createdAt: Date.now(), output: Buffer.concat(chunks).toString().trimEnd() };
    if (mode !== 'spawn-only') write(key, result);
    settle(phase, key, result);
    advance();
  });
}

function write(key, result) {
  const temporary = `${store}/${key}.tmp`;
  writeFileSync(temporary, JSON.stringify(result));
  renameSync(temporary, `${store}/${key}.json`);
}

function fail(error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
