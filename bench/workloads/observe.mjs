import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { startModelServer } from '../calls/start-server.mjs';
import { interleave } from '../lib/interleave.mjs';
import { ROOT } from '../lib/paths.mjs';
import { createProject } from '../lib/project.mjs';
import { TASKFLOW } from '../lib/taskflow.mjs';
import { measureTree } from '../lib/tree-usage.mjs';

const PI = `${ROOT}/test/clients/node_modules/.bin/pi`;
const TSC = `${ROOT}/node_modules/typescript/bin/tsc`;

/** What it costs to see what a phase reads: the same phase, with and without a tracer. */
export const observe = {
  name: 'observe',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    results.addTable({ id: 'observe', title: 'A phase that is observed', base: 'not observed', unit: 'ms' });
    const missing = ['strace', 'python3'].find((name) => spawnSync(name, ['--version']).error);
    if (missing !== undefined) return say(`observe: there is no ${missing} on this machine`);
    for (const [what, prepare] of Object.entries(WORK_OF)) {
      say(`observe: ${what}`);
      const project = createProject('observe');
      const work = await prepare(project);
      if (!work) continue;
      const sample = (mode) => async () => {
        project.write('flow.json', flow(work.phase, mode));
        const { wallMs, cpuMs } = await usageOf(project.dir, work.env);
        return { [`${what}, wall`]: [wallMs], [`${what}, CPU`]: [cpuMs] };
      };
      await sample('auto')();
      const cases = [
        { name: 'not observed', sample: sample('off') },
        { name: 'observed', sample: sample('auto') },
      ];
      results.addAll('observe', await interleave(cases, options));
      await work.end?.();
      project.remove();
    }
  },
};

function flow(phase, mode) {
  return JSON.stringify({ name: mode, phases: [{ id: 'p', ...phase, cache: { scope: 'cross-run', observe: mode } }] });
}

const usageOf = (cwd, env) => measureTree({ argv: ['node', TASKFLOW, 'run', './flow.json', '--refresh'], cwd, env });

const WORK_OF = {
  'a script that reads ten files': (project) => {
    const names = Array.from({ length: 10 }, (_, index) => `file-${index}.txt`);
    for (const name of names) project.write(name, `content of ${name}\n`);
    return { phase: { type: 'script', run: ['cat', ...names] } };
  },
  /** Our own sources: as many files, and as much to think about, as in other projects. */
  tsc: (project) => {
    cpSync(`${ROOT}/src`, `${project.dir}/src`, { recursive: true });
    symlinkSync(`${ROOT}/node_modules`, `${project.dir}/node_modules`);
    const { compilerOptions } = JSON.parse(readFileSync(`${ROOT}/tsconfig.json`, 'utf8'));
    project.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['src'] }));
    return { phase: { type: 'script', run: ['sh', '-c', `node ${TSC} --noEmit -p . || true`] } };
  },
  /** The clients of `npm run test:clients`; left out where they are not installed. */
  'a call of pi': async (project) => {
    if (!existsSync(PI)) return undefined;
    const server = await startModelServer();
    const home = `${project.dir}/.pi/home`;
    mkdirSync(`${home}/.pi/agent`, { recursive: true });
    const model = { id: 'm', reasoning: false, input: ['text'], contextWindow: 100_000, maxTokens: 1_000 };
    const cost = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
    const provider = {
      baseUrl: server.url('stream', 50),
      api: 'openai-completions',
      apiKey: 'K',
      models: [{ ...model, cost }],
    };
    writeFileSync(`${home}/.pi/agent/models.json`, JSON.stringify({ providers: { bench: provider } }));
    mkdirSync(`${project.dir}/.pi/taskflows`, { recursive: true });
    const runner = { type: 'pi', command: [PI], provider: 'bench', model: 'm', env: ['K', 'HOME'] };
    project.write('.pi/taskflows/config.yaml', JSON.stringify({ runner: 'bench', runners: { bench: runner } }));
    return { phase: { type: 'agent', task: 'Say something.' }, env: { HOME: home, K: 'k' }, end: () => server.stop() };
  },
};
