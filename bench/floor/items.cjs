// The floor of a list of cached items: read the list, derive a key per item, read each result; an item without one is
// spawned and its result written. `node items.cjs FILE STORE`, FILE being a flow with a map or one item per line.
const { execFileSync } = require('node:child_process');
const { createHash, hash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');

const sha256 = hash ? (text) => hash('sha256', text) : (text) => createHash('sha256').update(text).digest('hex');
const [file, store] = process.argv.slice(2);
mkdirSync(store, { recursive: true });

const text = readFileSync(file, 'utf8');
const items = file.endsWith('.json') ? JSON.parse(text).phases[0].over : text.trimEnd().split('\n');
const outputs = items.map((item) => {
  const key = sha256(JSON.stringify(['echo', item]));
  return (read(key) ?? execute(key, item)).output;
});
process.stdout.write(`${outputs.length}\n`);

function read(key) {
  try {
    return JSON.parse(readFileSync(`${store}/${key}.json`, 'utf8'));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

function execute(key, item) {
  const result = { key, createdAt: Date.now(), output: execFileSync('echo', [item], { encoding: 'utf8' }).trimEnd() };
  writeFileSync(`${store}/${key}.tmp`, JSON.stringify(result));
  renameSync(`${store}/${key}.tmp`, `${store}/${key}.json`);
  return result;
}
