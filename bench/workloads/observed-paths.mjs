import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { jsonFlow } from '../lib/flow-file.mjs';
import { makeGraph } from '../lib/graph.mjs';
import { interleave } from '../lib/interleave.mjs';
import { ROOT, WORK } from '../lib/paths.mjs';
import { runProcess } from '../lib/run-process.mjs';
import { summarize } from '../lib/statistics.mjs';
import { TASKFLOW } from '../lib/taskflow.mjs';
import { createWorkspace } from '../lib/workspace.mjs';

const DRIVER = fileURLToPath(new URL('./observed-driver.mjs', import.meta.url));
const PATHS = 1000;
const execute = promisify(execFile);

/** What a warm run pays for observed inputs: for phases that have some, and for those that have none. */
export const observedPaths = {
  name: 'observed-paths',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    say(`${PATHS} observed paths`);
    const args = [DRIVER, `${ROOT}/dist/library`, `${WORK}/observed-paths`, String(options.rounds * 5), String(PATHS)];
    const samples = JSON.parse((await execute('node', args)).stdout);
    const title = `${PATHS.toLocaleString('en-US')} observed paths that did not change`;
    results.addTable({ id: 'observed-paths', title, base: 'stat', unit: 'ms' });
    for (const name of ['stat', 'verify']) results.add('observed-paths', name, 'time', summarize(samples[name]));
    await measureUnobserved(options, results);
  },
};

/** The same flow with the default, and with observing switched off: phases that looked at nothing else cost nothing. */
async function measureUnobserved(options, results) {
  const size = Math.max(...options.sizes);
  const id = 'unobserved';
  const title = `${size.toLocaleString('en-US')} warm phases without observations`;
  results.addTable({ id, title, base: 'observe: off', unit: 'ms' });
  const cases = [];
  for (const mode of ['off', 'auto']) {
    const dir = `${WORK}/unobserved-${mode}`;
    const workspace = createWorkspace(dir, makeGraph('fan', size));
    mkdirSync(`${dir}/.pi`);
    const kept = jsonFlow(workspace);
    const run = () => runProcess({ argv: ['node', TASKFLOW, 'run', './flow.json', '--json'], cwd: dir });
    // Kept without a tracer, then read with either setting.
    writeFileSync(`${dir}/flow.json`, kept);
    await run();
    writeFileSync(`${dir}/flow.json`, kept.replaceAll('"observe": "off"', `"observe": "${mode}"`));
    await run();
    const sample = async () => ({ time: [await run(), await run()] });
    cases.push({ name: `observe: ${mode}`, sample, remove: () => workspace.remove() });
  }
  results.addAll(id, await interleave(cases, options));
  for (const { remove } of cases) remove();
}
