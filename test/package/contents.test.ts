import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { CLI, cliEnvironment, INSTALLED } from '../support/cli.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = join(INSTALLED, 'node_modules/taskflow-cli');
const FILES = readdirSync(PACKAGE, { recursive: true, encoding: 'utf8' }).filter((file) =>
  statSync(join(PACKAGE, file)).isFile(),
);
const about = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));

/** Others' code that few runs want: each in a file that is loaded then. */
const LIBRARIES = ['csv', 'git', 'glob', 'jsonc', 'lock', 'validator', 'watch', 'yaml'];

it('the package holds the command, the typed library, flows, the pi extension, the licence, and nothing else', () => {
  const plain = FILES.filter((file) => !/^(dist\/library|flows)\//.test(file)).sort();
  expect(plain).toEqual(
    [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist/THIRD-PARTY-LICENSES.txt',
      ...LIBRARIES.map((name) => `dist/${name}.cjs`),
      'dist/cli.cjs',
      'dist/mcp.cjs',
      'dist/page-style.css',
      'dist/page.js',
      'dist/run.cjs',
      'dist/schema.json',
      'dist/serve.cjs',
      'dist/test.schema.json',
      'dist/taskflow.cjs',
      'dist/tidy.cjs',
      'dist/unchanged.cjs',
      'package.json',
      'src/pi/extension.ts',
    ].sort(),
  );
  const flows = readdirSync(join(ROOT, 'flows'), { recursive: true, withFileTypes: true });
  expect(FILES.filter((file) => file.startsWith('flows/'))).toHaveLength(
    flows.filter((entry) => entry.isFile()).length,
  );
  const library = FILES.filter((file) => file.startsWith('dist/library/'));
  const modules = library.filter((file) => file.endsWith('.js'));
  expect(modules.length).toBeGreaterThan(100);
  expect(library.sort()).toEqual(modules.flatMap((file) => [file.replace(/js$/, 'd.ts'), file]).sort());
  expect(library.filter((file) => file.startsWith('dist/library/cli/'))).toEqual([]);
});

it('is called taskflow-cli, and every door it names is there', () => {
  expect([about.name, Object.keys(about.bin)]).toEqual(['taskflow-cli', ['taskflow']]);
  const entries = Object.values(about.exports).flatMap((to) => Object.values({ to }));
  const doors = [...Object.values(about.bin), ...entries, ...about.pi.extensions];
  const paths = doors.flatMap((door) => (typeof door === 'string' ? [door] : Object.values(door as object)));
  expect(paths).toHaveLength(7);
  expect(paths.filter((path) => !existsSync(join(PACKAGE, path)))).toEqual([]);
});

it.each([
  ['schema.json', []],
  ['test.schema.json', ['--test']],
])('its %s is the one that the command prints', (file, flags) => {
  const env = cliEnvironment(INSTALLED) as NodeJS.ProcessEnv;
  const args = [CLI, 'schema', ...flags];
  const printed = spawnSync(process.execPath, args, { cwd: tmpdir(), env, encoding: 'utf8' }).stdout;
  expect(JSON.parse(readFileSync(join(PACKAGE, 'dist', file), 'utf8'))).toEqual(JSON.parse(printed));
});

it('`npm start` says how to build where nothing was built', () => {
  const copy = mkdtempSync(join(tmpdir(), 'unbuilt-'));
  try {
    cpSync(join(ROOT, 'package.json'), join(copy, 'package.json'));
    mkdirSync(join(copy, 'scripts'));
    cpSync(join(ROOT, 'scripts/start.mjs'), join(copy, 'scripts/start.mjs'));
    const env = cliEnvironment(copy) as NodeJS.ProcessEnv;
    const { status, stderr } = spawnSync('npm', ['start', '--silent'], { cwd: copy, env, encoding: 'utf8' });
    expect(stderr).toContain('build it with: npm run build');
    expect(stderr).not.toMatch(/^ +at |Cannot find module/m);
    expect(status).toBe(1);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

it('what only one command needs is in a file that only this command loads', () => {
  const text = (file: string) => readFileSync(join(PACKAGE, 'dist', file), 'utf8');
  expect(text('mcp.cjs')).toContain('io.modelcontextprotocol/');
  for (const file of ['cli.cjs', 'run.cjs', 'unchanged.cjs', 'taskflow.cjs', 'tidy.cjs']) {
    expect([file, text(file).includes('io.modelcontextprotocol/')]).toEqual([file, false]);
    // Of the YAML parser, and of the library that git is asked with.
    expect([file, /YAMLParseError|GitResponseError/.test(text(file))]).toEqual([file, false]);
  }
});
