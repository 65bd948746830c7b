// The floor of a list of kept answers: `node kept-calls.cjs FLOW STORE URL AT_ONCE` reads the list, derives a key per
// item and reads each answer; an item without one is asked for, and its answer written.
const { createHash, hash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { ask, eachOf, openAgent } = require('../calls/ask.cjs');

const sha256 = hash ? (text) => hash('sha256', text) : (text) => createHash('sha256').update(text).digest('hex');
const [file, store, url, atOnce] = process.argv.slice(2);
const agent = openAgent(true, Number(atOnce));
mkdirSync(store, { recursive: true });
const { over, task } = JSON.parse(readFileSync(file, 'utf8')).phases[0];
const outputs = new Array(over.length);

eachOf([...over.entries()], Number(atOnce), async ([index, item]) => {
  const question = task.replace('{item}', item);
  const key = sha256(JSON.stringify(['ask', question]));
  outputs[index] = (read(key) ?? (await execute(key, question))).output;
}).then(() => {
  agent.destroy();
  process.stdout.write(`${outputs.join('\n\n')}\n`);
});

function pathOf(key) {
  return `${store}/${key.slice(0, 2)}/${key}.json`;
}

function read(key) {
  try {
    return JSON.parse(readFileSync(pathOf(key), 'utf8'));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

async function execute(key, question) {
  const result = { key, createdAt: Date.now(), output: await ask({ url, agent }, question) };
  mkdirSync(`${store}/${key.slice(0, 2)}`, { recursive: true });
  writeFileSync(`${store}/${key}.tmp`, JSON.stringify(result));
  renameSync(`${store}/${key}.tmp`, pathOf(key));
  return result;
}
