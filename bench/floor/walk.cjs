// The floor of a `glob:` fingerprint: walk the folder and stat every file; with "digest", read and digest each as well.
// `node walk.cjs FOLDER [digest]`
const { createHash, hash } = require('node:crypto');
const { readdirSync, readFileSync, statSync } = require('node:fs');

const sha256 = hash ? (text) => hash('sha256', text) : (text) => createHash('sha256').update(text).digest('hex');
const [folder, mode] = process.argv.slice(2);
let files = 0;
let seen = 0;
walk(folder);
process.stdout.write(`${files} ${seen}\n`);

function walk(path) {
  for (const found of readdirSync(path, { withFileTypes: true })) {
    const child = `${path}/${found.name}`;
    if (found.isDirectory()) {
      walk(child);
      continue;
    }
    files += 1;
    seen += statSync(child).mtimeMs;
    if (mode === 'digest') seen += sha256(readFileSync(child)).length;
  }
}
