import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { interleave } from '../lib/interleave.mjs';
import { FLOOR } from '../lib/paths.mjs';
import { createProject } from '../lib/project.mjs';

const FILES_PER_FOLDER = 100;
/** A file's row is trusted only when the file is clearly older than the row; give it that age. */
const SETTLE_MS = 3000;

const FLOW = {
  name: 'glob',
  phases: [
    {
      id: 'p',
      type: 'script',
      run: ['echo', 'done'],
      cache: { scope: 'cross-run', fingerprint: ['glob:src/**/*.txt'] },
    },
  ],
};

/** A project with one phase that depends on many files. @param {string} name @param {number} count */
export async function createGlobWork(name, count) {
  const project = createProject(name);
  project.write('flow.json', JSON.stringify(FLOW));
  for (let i = 0; i < count; i += 1) {
    const folder = `${project.dir}/src/${Math.floor(i / FILES_PER_FOLDER)}`;
    if (i % FILES_PER_FOLDER === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/${i % FILES_PER_FOLDER}.txt`, `content of file ${i}\n`.repeat(10));
  }
  await sleep(SETTLE_MS);
  return {
    project,
    /** @param {...string} flags */
    walk: (...flags) => project.node(`${FLOOR}/walk.cjs`, 'src', ...flags),
    run: () => project.taskflow('run', './flow.json'),
  };
}

/** A fingerprint over many files: cold (all digested), warm (all known), one changed. */
export const glob = {
  name: 'glob',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    const count = options.quick ? 2000 : 20_000;
    say(`glob: over ${count} files`);
    const id = `glob-${count}`;
    results.addTable({ id, title: `\`glob:\` over ${count.toLocaleString('en-US')} files`, base: 'floor', unit: 'ms' });
    const work = await createGlobWork('glob', count);
    const cases = [
      { name: 'floor', sample: () => sampleFloor(work) },
      { name: 'taskflow', sample: () => sampleTaskflow(work) },
    ];
    results.addAll(id, await interleave(cases, options));
    work.project.remove();
  },
};

async function sampleFloor({ walk }) {
  const warm = [await walk(), await walk()];
  return { cold: [await walk('digest')], warm, 'one file changed': warm };
}

async function sampleTaskflow({ project, run }) {
  project.forget();
  const cold = [await run()];
  const warm = [await run(), await run()];
  project.write('src/0/0.txt', `edited at ${performance.now()}\n`);
  const changed = [await run()];
  // The edited file settles too, so that the next round is like the first.
  await sleep(SETTLE_MS);
  return { cold, warm, 'one file changed': changed };
}
