import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { INSTALLED, runCli } from '../support/cli.js';
import { createRepository, FLOW_FILES, flowText, type Repository, ran, resultOf } from './support.js';

let repository: Repository;
afterEach(() => repository?.remove());

describe('every flow that comes with the package', () => {
  it('is one of those that these tests run', () => {
    expect(FLOW_FILES).toEqual([
      'ci-audit.yaml',
      'code-review.yaml',
      'release-checklist.yaml',
      'repo-report.yaml',
      'topic-research.yaml',
    ]);
  });

  it('names the schema that comes with the package, so that an editor knows the language', () => {
    for (const name of FLOW_FILES) {
      expect(flowText(name)).toMatch(/^# yaml-language-server: \$schema=\.\.\/dist\/schema\.json\n/);
    }
    expect(existsSync(join(INSTALLED, 'node_modules/taskflow-cli/dist/schema.json'))).toBe(true);
    expect(existsSync(join(INSTALLED, 'node_modules/taskflow-cli/flows'))).toBe(true);
  });

  it('checks clean, without warnings', async () => {
    repository = createRepository('ci-audit.yaml', {});
    for (const name of FLOW_FILES) repository.write(`flows/${name}`, flowText(name));
    const { status, stdout } = await repository.run([
      'check',
      '--strict',
      ...FLOW_FILES.map((name) => `flows/${name}`),
    ]);
    expect(stdout).not.toContain('warning');
    expect(status).toBe(0);
  });
});

describe('the flows of this repository', () => {
  it('check clean, and can say what they would do', async () => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    expect((await runCli(['check', '--strict', 'self-check'], { cwd: root })).status).toBe(0);
    const { status, stdout } = await runCli(['graph', 'self-check', '--format', 'json'], { cwd: root });
    expect(status).toBe(0);
    expect(JSON.parse(stdout).nodes.map(({ id }: { id: string }) => id)).toContain('tests');
  });
});

describe('repo-report', () => {
  const run = async (...more: string[]) => {
    const done = await repository.run(['run', 'flows/repo-report.yaml', '--json', ...more]);
    return { status: done.status, ...{ result: resultOf(done.stdout) } };
  };

  it('reports on a repository; then executes nothing; after an edit only what the edit can have changed', async () => {
    repository = createRepository('repo-report.yaml', {
      'src/a.ts': 'const a = 1; // TODO: say why\n',
      'src/b.ts': 'const b = 2;\n',
      'docs/long.md': 'text\n'.repeat(1_000),
      'weird {name} *|.txt': 'x\n',
    });
    const cold = await run();
    expect(cold.status).toBe(0);
    expect(cold.result.reuse).toEqual({ executed: 9, run: 0, crossRun: 0 });
    expect(cold.result.output).toContain('| docs/long.md | 4.9 | 1000 |');
    expect(cold.result.output).toContain('- src/a.ts:1 `const a = 1; // TODO: say why`');
    expect(cold.result.output).toContain('| 1 | src/a.ts |');
    const report = join(repository.root, 'repo-report/report.md');
    expect(readFileSync(report, 'utf8').trimEnd()).toBe(cold.result.output);
    expect(repository.git('status', '--porcelain')).toBe('');

    const warm = await run('--frozen');
    expect(warm.result.reuse).toEqual({ executed: 0, run: 0, crossRun: 9 });
    expect(warm.result.output).toBe(cold.result.output);

    repository.write('src/b.ts', 'const b = 3;\n');
    const edited = await run();
    // The same size: the inventory runs again, says the same, and nothing that follows from it does.
    expect(ran(edited.result)).toEqual(['inventory', 'todos']);
    expect(edited.result.phases.find(({ id }) => id === 'inventory')?.reason).toContain('src/b.ts');
    expect(edited.result.phases.find(({ id }) => id === 'todos')?.items).toMatchObject({ executed: 1, total: 4 });

    rmSync(join(repository.root, 'repo-report'), { recursive: true });
    expect((await run('--frozen')).status).toBe(0);
    expect(existsSync(report)).toBe(true);

    repository.write('docs/new.md', 'FIXME tomorrow\n');
    repository.commit('docs: more');
    const after = await run();
    expect(ran(after.result)).toEqual(
      expect.arrayContaining(['inventory', 'hot-files', 'activity', 'open-ends', 'report']),
    );
    expect(after.result.output).toContain('- docs/new.md:1 `FIXME tomorrow`');
  });

  it('finds open ends in comments and notes; its own patterns, other patterns and pictures are none', async () => {
    const open = {
      'a.py': '# TODO(ann): one\n',
      'b.sql': 'select 1; -- FIXME two\n',
      'c.md': '- [ ] TODO three\n',
      'd.html': '<!-- XXX four -->\n',
      'e.ts': '/** HACK: five */\n',
    };
    repository = createRepository('repo-report.yaml', {
      ...open,
      'demo.svg': '<text>// TODO: in a picture</text>\n<text>\n// TODO</text>\n',
      'lint.ts': "const marks = /TODO|FIXME/; say('lines with TODO');\n",
      'check.yaml': 'pattern: "TODO|TBD"\nnot: TODOS\n',
    });
    const { result } = await run();
    const found = result.output.slice(result.output.indexOf('## Open ends'));
    expect(found.match(/^- \S+/gm)).toEqual(Object.keys(open).map((file) => `- ${file}:1`));
    expect(found).toContain('5 lines are left to do.');
  });

  it('says what is missing outside of a repository', async () => {
    repository = createRepository('repo-report.yaml', {});
    rmSync(join(repository.root, '.git'), { recursive: true });
    const { status, stderr } = await repository.run(['run', 'flows/repo-report.yaml']);
    expect(status).toBe(1);
    expect(stderr).toContain('not a git repository');
  });
});

describe('ci-audit', () => {
  const run = async () => {
    const { status, stdout } = await repository.run(['run', 'flows/ci-audit.yaml', '--json']);
    return { status, result: resultOf(stdout) };
  };

  it('reuses what an edit cannot have changed, decides anew, and blocks on a key', async () => {
    repository = createRepository('ci-audit.yaml', {
      'package.json': '{"dependencies":{"left":"1"}}',
      'package-lock.json': '{"packages":{"":{},"node_modules/left":{"license":"AGPL-3.0"}}}',
      '.github/workflows/ci.yml': 'jobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n      - uses: ./local\n',
    });
    const cold = await run();
    expect(cold.status).toBe(0);
    expect(cold.result.output).toContain('- .github/workflows/ci.yml:4 actions/checkout@v4');
    expect(cold.result.output).toContain('- node_modules/left AGPL-3.0');
    expect(ran((await run()).result)).toEqual(['verdict']);

    repository.write('src/new.txt', 'nothing here');
    const edited = await run();
    expect(ran(edited.result)).toEqual(['secrets', 'large-files', 'verdict']);

    repository.write('src/key.txt', `-----BEGIN ${'PRIVATE'} KEY-----\n`);
    repository.commit('oops');
    const leaked = await run();
    expect(leaked.status).toBe(3);
    expect(leaked.result.phases.find(({ id }) => id === 'verdict')?.status).toBe('blocked');
  });
});

describe('release-checklist', () => {
  const run = (...args: string[]) => repository.run(['run', 'flows/release-checklist.yaml', ...args, '--json']);

  it('pauses for a person, makes the tag once they said yes, and never makes it again', async () => {
    repository = createRepository('release-checklist.yaml', { Makefile: 'test:\n\t@echo tested >> .home/tests\n' });
    repository.write('.home/keep', '');
    const paused = await run('version=1.2.0');
    expect(paused.status).toBe(4);
    const { runId } = resultOf(paused.stdout);
    expect(repository.git('tag')).toBe('');
    expect((await repository.run(['approve', runId, 'decide', '--note', 'go'])).status).toBe(0);
    const identity = { GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.org' };
    const resumed = await repository.run(['resume', runId, '--json'], { env: identity });
    expect(resumed.status).toBe(0);
    expect(resultOf(resumed.stdout).output).toContain('Tagged v1.2.0 (go).');
    expect(repository.git('tag', '-n9', '--list', 'v1.2.0')).toContain('## 1.2.0');
    expect(readFileSync(join(repository.root, '.home/tests'), 'utf8')).toBe('tested\n');

    expect((await run('version=1.2.0')).status).toBe(3);
  });

  it('stops before anybody is asked: a dirty worktree, a version that is none, a manifest that disagrees', async () => {
    repository = createRepository('release-checklist.yaml', { 'package.json': '{"version":"2.0.0"}' });
    expect((await run('version=next')).status).toBe(3);
    expect((await run('version=1.0.0')).status).toBe(3);
    repository.write('dirty.txt', '');
    const dirty = await run('version=2.0.0', '--fresh');
    expect(dirty.status).toBe(3);
    expect(resultOf(dirty.stdout).phases.find(({ id }) => id === 'ready')?.status).toBe('blocked');
  });
});
