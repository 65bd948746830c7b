// `npm run bench`: taskflow beside its peers and the floor, on the same generated work, in one run.
import { writeFileSync } from 'node:fs';
import { checkContender } from './lib/check-contender.mjs';
import { addGrowth } from './lib/growth.mjs';
import { HELP, parseOptions } from './lib/options.mjs';
import { renderReport } from './lib/report.mjs';
import { Results } from './lib/results.mjs';
import { selectPeers } from './lib/select-peers.mjs';
import { prepareTaskflow, taskflowJson, taskflowYaml } from './lib/taskflow.mjs';
import { makeWorkFolder, removeWorkFolder } from './lib/work-folder.mjs';
import { judgeTargets } from './targets.mjs';
import { WORKLOADS } from './workloads/index.mjs';

const say = (text) => process.stderr.write(`${text}\n`);

async function main() {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) return void process.stdout.write(HELP);
  const workloads = chooseWorkloads(options.only);
  makeWorkFolder();
  const results = new Results();

  const problem = await prepareTaskflow(options);
  if (problem) throw new Error(problem);
  for (const contender of [taskflowJson, taskflowYaml]) {
    const wrong = await checkContender(contender);
    if (wrong) results.addAbsent(contender.name, `does not do the work that is timed: ${wrong}`);
  }
  const peers = workloads.some(({ name }) => name === 'graphs') ? await selectPeers(options.peers, results, say) : [];
  for (const workload of workloads) await measure(workload, { options, results, peers, say });
  addGrowth(results, options.sizes);

  process.stdout.write(renderReport(results, judgeTargets(results)));
  if (options.json) writeFileSync(options.json, `${JSON.stringify(results, null, 1)}\n`);
}

/** One that fails is named, and what the others measured is still printed. */
async function measure(workload, context) {
  try {
    await workload.run(context);
  } catch (error) {
    context.results.addAbsent(workload.name, error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

function chooseWorkloads(only) {
  const unknown = only?.filter((name) => !WORKLOADS.some((workload) => workload.name === name)) ?? [];
  if (unknown.length > 0) {
    throw new Error(`--only: unknown ${unknown.join(', ')}; known: ${WORKLOADS.map(({ name }) => name).join(', ')}`);
  }
  return WORKLOADS.filter(({ name }) => only === undefined || only.includes(name));
}

try {
  await main();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  removeWorkFolder();
}
