import { jsonFlow, yamlFlow } from '../lib/flow-file.mjs';
import { makeGraph } from '../lib/graph.mjs';
import { interleave } from '../lib/interleave.mjs';
import { createProject } from '../lib/project.mjs';
import { createWorkspace } from '../lib/workspace.mjs';

/** Checking a large flow, with nothing kept from earlier checks. */
export const check = {
  name: 'check',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    const size = Math.max(...options.sizes);
    say(`checking a flow of ${size} phases`);
    const id = `check-${size}`;
    const title = `\`taskflow check\` of ${size.toLocaleString('en-US')} phases`;
    results.addTable({ id, title, base: 'node -e 0', unit: 'ms' });
    const project = createProject('check-flow');
    const workspace = createWorkspace(`${project.dir}/work`, makeGraph('fan', size));
    project.write('flow.json', jsonFlow(workspace));
    project.write('flow.yaml', yamlFlow(workspace));
    const once = (run) => async () => ({ time: [await run()] });
    const fresh = (file) =>
      once(() => {
        project.forget();
        return project.taskflow('check', file);
      });
    const cases = [
      { name: 'node -e 0', sample: once(() => project.node('-e', '0')) },
      { name: 'JSON.parse (floor)', sample: once(() => project.node('-e', PARSE)) },
      { name: 'taskflow check flow.json', sample: fresh('./flow.json') },
      { name: 'taskflow check flow.yaml', sample: fresh('./flow.yaml') },
    ];
    results.addAll(id, await interleave(cases, options));
    project.remove();
  },
};

const PARSE = 'JSON.parse(require("node:fs").readFileSync("flow.json", "utf8"))';
