import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeRepository } from '../lib/git-repository.mjs';
import { interleave } from '../lib/interleave.mjs';
import { createProject } from '../lib/project.mjs';
import { runProcess } from '../lib/run-process.mjs';

const FILES_PER_FOLDER = 200;
/** Git and taskflow trust a file's times only when they are clearly in the past. */
const SETTLE_MS = 3000;

const FLOW = {
  name: 'worktree',
  phases: [
    { id: 'p', type: 'script', run: ['echo', 'done'], cache: { scope: 'cross-run', fingerprint: ['git:worktree'] } },
  ],
};

/** A phase that depends on the whole of a large repository, beside `git status` and a run that depends on nothing. */
export const worktree = {
  name: 'worktree',
  /** @param {import('../lib/context.mjs').Context} context */
  async run({ options, results, say }) {
    const count = options.quick ? 5_000 : 100_000;
    say(`git:worktree over ${count} files`);
    const id = `worktree-${count}`;
    const title = `\`git:worktree\` in a repository of ${count.toLocaleString('en-US')} files`;
    results.addTable({ id, title, base: 'git status', unit: 'ms' });
    const project = createProject('worktree');
    for (let i = 0; i < count; i += 1) {
      const folder = `${project.dir}/src/${Math.floor(i / FILES_PER_FOLDER)}`;
      if (i % FILES_PER_FOLDER === 0) mkdirSync(folder, { recursive: true });
      writeFileSync(`${folder}/${i % FILES_PER_FOLDER}.txt`, `content of file ${i}\n`);
    }
    project.write('flow.json', JSON.stringify(FLOW));
    await sleep(SETTLE_MS);
    makeRepository(project.dir, ['.pi']);
    await project.taskflow('run', './flow.json');
    const status = () => runProcess({ argv: ['git', 'status', '--porcelain'], cwd: project.dir });
    const cases = [
      { name: 'git status', sample: async () => ({ unchanged: [await status(), await status()] }) },
      {
        name: 'taskflow run',
        sample: async () => ({
          unchanged: [await project.taskflow('run', './flow.json'), await project.taskflow('run', './flow.json')],
        }),
      },
    ];
    results.addAll(id, await interleave(cases, options));
    project.remove();
  },
};
