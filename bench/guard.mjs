// The guard in CI: a few ratios with generous limits, so that a tenfold slip is noticed on any machine. Everything
// finer is for `npm run bench`. Ends with status 1 and says which ratio slipped.
import { RATIOS } from './guard-ratios.mjs';
import { number, ratioText } from './lib/report.mjs';
import { prepareTaskflow } from './lib/taskflow.mjs';
import { makeWorkFolder, removeWorkFolder } from './lib/work-folder.mjs';

const ATTEMPTS = 2;

async function hold({ name, limit, measure }) {
  let ratio = Number.POSITIVE_INFINITY;
  // Once more before failing: a shared machine has bad seconds.
  for (let attempt = 0; attempt < ATTEMPTS && ratio > limit; attempt += 1) ratio = Math.min(ratio, await measure());
  const pass = ratio <= limit;
  const line = `${pass ? 'ok  ' : 'SLOW'}  ${name}: ${ratioText(ratio)} × (at most ${limit} ×)`;
  (pass ? process.stdout : process.stderr).write(`${line}\n`);
  return pass;
}

async function main() {
  const started = performance.now();
  makeWorkFolder();
  const problem = await prepareTaskflow({ build: !process.argv.includes('--no-build') });
  if (problem) throw new Error(problem);
  let slipped = 0;
  for (const ratio of RATIOS) if (!(await hold(ratio))) slipped += 1;
  process.stdout.write(`${RATIOS.length} ratios in ${number((performance.now() - started) / 1000)} s\n`);
  if (slipped > 0) {
    process.stderr.write(`${slipped} of ${RATIOS.length} ratios slipped; npm run bench shows where the time goes\n`);
    process.exitCode = 1;
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  removeWorkFolder();
}
