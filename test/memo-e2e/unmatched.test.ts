import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let p: TestProject;
beforeEach(() => {
  p = createTestProject({ 'src/a.ts': 'a', 'package.json': '{}', 'docs/deep/x.md': 'x' });
});
afterEach(() => p.remove());

const phase = (id: string, fingerprint: readonly string[], more: object = {}) => ({
  id,
  type: 'script',
  run: ['echo', id],
  cache: { scope: 'cross-run', fingerprint },
  ...more,
});

const flow = (...phases: object[]) => p.write('flow.json', JSON.stringify({ name: 'f', phases }));

/** What `check` and `run` warn of. */
async function warnings(): Promise<{ check: string[]; run: string[]; dry: string[] }> {
  const checked = await p.run(['check', './flow.json', '--json']);
  const warningsOf = async (...flags: string[]) => {
    const { stdout } = await p.run(['run', './flow.json', '--events', ...flags]);
    const events = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    return events.filter(({ type }) => type === 'warning').map(({ message }) => message as string);
  };
  const found: { severity: string; message: string; hint: string }[] = JSON.parse(checked.stdout);
  expect(found.every(({ severity }) => severity === 'warning')).toBe(true);
  const dry = await warningsOf('--dry-run');
  return { check: found.map(({ message, hint }) => `${message}; ${hint}`), dry, run: await warningsOf() };
}

describe('a fingerprint that matches nothing', () => {
  it.each([
    ['glob:srcc/**', 'glob:srcc/** matches no file; did you mean "glob:src/**"?'],
    ['glob!:srcc/**/*.ts', 'glob!:srcc/**/*.ts matches no file; did you mean "glob!:src/**/*.ts"?'],
    ['glob:docs/dep/*.md', 'glob:docs/dep/*.md matches no file; did you mean "glob:docs/deep/*.md"?'],
    ['file:pakage.json', 'file:pakage.json: there is no such file; did you mean "file:package.json"?'],
    ['file:zzz.txt', 'file:zzz.txt: there is no such file; if it may be missing, say so: glob:?(zzz.txt)'],
    ['glob:src/**/*.tsx', 'glob:src/**/*.tsx matches no file; if it may be missing, say so: glob:src/**/?(*.tsx)'],
  ])('%s is a warning of check and of the run', async (entry, warning) => {
    flow(phase('a', [entry]));
    expect(await warnings()).toMatchObject({ check: [warning], run: [warning] });
  });

  it('is said once, however many phases name it', async () => {
    flow(phase('a', ['glob:srcc/**']), phase('b', ['glob:srcc/**']), {
      id: 'm',
      type: 'map',
      over: [1, 2, 3],
      run: ['echo', '{item}'],
      cache: { scope: 'cross-run', fingerprint: ['glob:srcc/**'] },
    });
    const said = await warnings();
    expect(said.run).toHaveLength(1);
    // Each place in the file is a place to mend.
    expect(said.check).toHaveLength(3);
  });

  it.each([
    ['its own output', ['glob:dist/**'], { outputs: ['dist/**'] }],
    ['its own file', ['file:out.txt'], { outputs: ['out.txt'] }],
    ['something that may be missing', ['glob:?(zzz.txt)', 'glob:?(.github)/**', 'glob:src/**/?(*.tsx)'], {}],
    ['something that is there', ['glob:src/**', 'file:package.json', 'git:worktree'], {}],
  ])('is no mistake when it names %s', async (_name, entries, more) => {
    flow(phase('a', entries, { run: 'mkdir -p dist; echo 1 > dist/x; echo 1 > out.txt', ...more }));
    const said = await warnings();
    expect([...said.check, ...said.run].filter((text) => !text.includes('git'))).toEqual([]);
  });

  it('is no mistake when a phase of the flow makes the files, not even before it has', async () => {
    const build = { ...phase('build', ['glob:src/**']), run: 'mkdir -p dist; echo 1 > dist/x', outputs: ['dist/*'] };
    flow(build, phase('use', ['glob:dist/**', 'file:dist/x'], { dependsOn: ['build'] }));
    expect(await warnings()).toEqual({ check: [], run: [], dry: [] });
  });
});

it.each([
  ['src/**', 'glob:src/**'],
  ['src/', 'glob:src/'],
  ['package.json', 'file:package.json'],
  ['NODE_ENV', 'env:NODE_ENV'],
  ['HEAD', 'git:HEAD'],
])('%s without a prefix: did you mean %s', async (entry, meant) => {
  flow(phase('a', [entry]));
  const { stdout, status } = await p.run(['check', './flow.json', '--json']);
  expect(status).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject([{ code: 'unknown-fingerprint', hint: `did you mean "${meant}"?` }]);
});
