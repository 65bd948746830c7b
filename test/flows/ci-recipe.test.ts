import { spawnSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment } from '../support/cli.js';
import { createRepository, type Repository, resultOf } from './support.js';

const repositories: Repository[] = [];
afterEach(() => {
  for (const repository of repositories.splice(0)) repository.remove();
});

/** Two clones of one repository, as two jobs of CI have them. */
function clone(): Repository {
  const repository = createRepository('ci-audit.yaml', {
    'src/a.js': 'console.log(1);\n',
    'package.json': '{"name":"x","version":"1.0.0"}\n',
  });
  repositories.push(repository);
  return repository;
}

const FLOW = 'flows/ci-audit.yaml';

describe('the recipe for CI: files that taskflow writes into the project are no input', () => {
  it('a job that has kept its results and reports in the project is proved by --frozen', async () => {
    const job = clone();
    const first = await job.run(['run', FLOW, '--json', '--junit', 'report.xml']);
    expect(resultOf(first.stdout).reuse.executed).toBeGreaterThan(3);
    expect((await job.run(['cache', 'export', 'cache.archive'])).status).toBe(0);
    expect((await job.run(['checkpoint', 'export', 'last', '--out', 'run.json'])).status).toBe(0);
    expect(job.git('status', '--porcelain', '--untracked-files=all')).toContain('?? cache.archive');
    expect((await job.run(['run', FLOW, '--frozen'])).status).toBe(0);
    job.write('src/a.js', 'console.log(2);\n');
    expect((await job.run(['run', FLOW, '--frozen'])).status).toBe(6);
  });

  it('a later job that imports the archive from its own folder executes nothing', async () => {
    const before = clone();
    await before.run(['run', FLOW]);
    await before.run(['cache', 'export', 'cache.archive']);
    const next = clone();
    // The same commit: dates are part of it.
    rmSync(join(next.root, '.git'), { recursive: true });
    next.git('init', '-q', '-b', 'main');
    next.git('fetch', '-q', before.root, 'main');
    next.git('reset', '-q', '--hard', 'FETCH_HEAD');
    copyFileSync(join(before.root, 'cache.archive'), join(next.root, 'cache.archive'));
    expect((await next.run(['cache', 'import', 'cache.archive'])).status).toBe(0);
    const proof = await next.run(['run', FLOW, '--frozen', '--json', '--junit', 'report.xml']);
    expect(proof.status).toBe(0);
  });

  it('nor are the files that the shell sends its output to, which grow while the phases run', async () => {
    const job = clone();
    const shell = (line: string) =>
      spawnSync('sh', ['-c', line, process.execPath, CLI], {
        cwd: job.root,
        env: cliEnvironment(job.root) as NodeJS.ProcessEnv,
      });
    expect(shell(`"$0" "$1" run ${FLOW} --json > result.json 2> log.txt`).status).toBe(0);
    rmSync(join(job.root, 'result.json'));
    rmSync(join(job.root, 'log.txt'));
    expect((await job.run(['run', FLOW, '--frozen'])).status).toBe(0);
  });

  it('what a batch writes with --out is no change for the rows that run beside it', async () => {
    const repository = clone();
    repository.write(
      'rows.yaml',
      'name: rows\nincremental: true\nargs: { n: {} }\n' +
        'phases:\n  - id: a\n    type: script\n    run: [echo, "{args.n}"]\n',
    );
    repository.write('rows.txt', 'one\ntwo\nthree\n');
    repository.commit('chore: rows');
    const batch = ['batch', 'rows.yaml', '--over', 'rows.txt', '--out', 'results', '--json'];
    expect((await repository.run(batch)).status).toBe(0);
    expect(repository.git('status', '--porcelain')).toContain('?? results/');
    const again = resultOf((await repository.run(batch)).stdout);
    expect(again.reuse).toMatchObject({ executed: 0, crossRun: 3 });
  });
});
