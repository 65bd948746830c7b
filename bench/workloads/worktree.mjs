import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeRepository } from '../lib/git-repository.mjs';
import { interleave } from '../lib/interleave.mjs';
import { createProject } from '../lib/project.mjs';
import { TASKFLOW } from '../lib/taskflow.mjs';
import { measureTree } from '../lib/tree-usage.mjs';

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
    const status = ['git', 'status', '--porcelain'];
    // It writes the index anew, which is trusted a moment later.
    await measureTree({ argv: status, cwd: project.dir });
    await sleep(SETTLE_MS);
    // The first run executes, the second one leaves a snapshot.
    for (let i = 0; i < 2; i += 1) await project.taskflow('run', './flow.json');
    const measured = (argv) => async () => {
      const { wallMs, cpuMs } = await measureTree({ argv, cwd: project.dir });
      return { unchanged: [wallMs], 'unchanged, CPU': [cpuMs] };
    };
    const cases = [
      { name: 'git status', sample: measured(status) },
      { name: 'taskflow run', sample: measured(['node', TASKFLOW, 'run', './flow.json']) },
    ];
    results.addAll(id, await interleave(cases, options));
    project.remove();
  },
};
