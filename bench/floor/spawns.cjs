// The floor of many programs: `node spawns.cjs COUNT AT_ONCE PROGRAM [ARG …]` starts PROGRAM so often, writes a
// question to it and reads its answer.
const { spawn } = require('node:child_process');
const { eachOf } = require('../calls/ask.cjs');

const [count, atOnce, program, ...args] = process.argv.slice(2);

function run(question) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const chunks = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.resume();
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else reject(new Error(`status ${code}`));
    });
    child.stdin.end(question);
  });
}

eachOf(
  Array.from({ length: Number(count) }, (_, i) => `Question ${i}`),
  Number(atOnce),
  run,
);
