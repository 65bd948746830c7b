// Measures, in a process of its own, how long looking at observed paths takes beside a stat of each. Prints JSON:
// samples in milliseconds. `node observed-driver.mjs LIBRARY DIR ROUNDS COUNT`
import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [library = '', dir = '', rounds = '', count = ''] = process.argv.slice(2);
const root = `${dir}/project`;
const load = (module) => import(pathToFileURL(`${library}/memo/${module}.js`).href);
const { ObservedFiles } = await load('observed/observed-files');
const { KnownStats } = await load('files/known-stats');
mkdirSync(`${root}/src`, { recursive: true });
const reads = Array.from({ length: Number(count) }, (_, index) => `src/file-${index}.txt`);
for (const path of reads) writeFileSync(`${root}/${path}`, `content of ${path}\n`.repeat(20));
// Digests are believed of files that are clearly older than the look at them.
await sleep(3000);
const clock = { now: () => Date.now(), elapsed: () => performance.now() };
const project = { root, home: `${dir}/home`, env: { XDG_CACHE_HOME: `${dir}/cache` }, clock };
const set = { complete: true, reads, lists: [], absent: [], present: [], marks: [] };
/** As a run does: it reads the table of known digests once. */
const verify = async () => {
  const stats = new KnownStats(project);
  await new ObservedFiles({ project, stats, touches: () => 0 }).look(set);
  stats.flush();
};
const stat = () => reads.map((path) => lstatSync(`${root}/${path}`).mtimeMs);
const timed = async (work) => {
  const started = performance.now();
  await work();
  return performance.now() - started;
};
await verify();
const samples = { verify: [], stat: [] };
for (let round = 0; round < Number(rounds); round += 1) {
  samples.stat.push(await timed(stat));
  samples.verify.push(await timed(verify));
}
process.stdout.write(JSON.stringify(samples));
