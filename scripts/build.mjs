// Builds what users get: the command (a few CommonJS files behind a small loader), the page of its reports, the library
// (plain ES modules with their types beside them) and the schemas of flow and test files.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build as bundle } from 'esbuild';
import { bundledPackages, licenceText } from './licences.mjs';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/** Others' work that is in the bundles, with what they want to be said. */
const LICENCES = 'THIRD-PARTY-LICENSES.txt';

const common = {
  absWorkingDir: root,
  platform: 'node',
  target: 'node20',
  define: { TASKFLOW_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
  metafile: true,
};

/**
 * The files of the command. Each holds all it needs, so that a call loads one or two and V8 reads back few functions:
 * what is asked for with `await import()` is evaluated then, and what is in this list is also loaded then.
 */
const FILES = {
  taskflow: 'src/cli/boot/main.ts',
  unchanged: 'src/cli/boot/unchanged.ts',
  run: 'src/cli/boot/run.ts',
  cli: 'src/cli/boot/dispatch.ts',
  serve: 'src/cli/boot/serve.ts',
  mcp: 'src/mcp/serve.ts',
  tidy: 'src/cli/boot/tidy.ts',
  csv: 'csv-parse/sync',
  git: 'simple-git',
  glob: 'fast-glob',
  jsonc: 'jsonc-parser',
  lock: 'proper-lockfile',
  validator: '@cfworker/json-schema',
  watch: 'chokidar',
  yaml: 'yaml',
};

const inFilesOfTheirOwn = {
  name: 'files of their own',
  setup(build) {
    build.onResolve({ filter: /./ }, ({ path, kind, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined;
      const source = path.startsWith('.') ? relative(root, join(resolveDir, path)).replace(/\.js$/, '.ts') : path;
      const file = Object.keys(FILES).find((name) => FILES[name] === source);
      return file && { path: `./${file}.cjs`, external: true };
    });
  },
};

async function buildCommand(outdir) {
  const { metafile } = await bundle({
    ...common,
    entryPoints: FILES,
    plugins: [inFilesOfTheirOwn],
    bundle: true,
    minify: true,
    outdir,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    // Files are required: the loader has no import().
    supported: { 'dynamic-import': false },
    // Some packages name a UMD build as `main`, whose require() calls a bundler cannot see.
    mainFields: ['module', 'main'],
    alias: { '@modelcontextprotocol/server/_shims': './src/mcp/validator.ts' },
    define: { ...common.define, TASKFLOW_LANGUAGE: JSON.stringify(readFileSync(`${root}docs/language.md`, 'utf8')) },
    // The user installs these, where workers are wanted.
    external: ['bullmq', 'ioredis'],
  });
  chmodSync(`${outdir}/taskflow.cjs`, 0o755);
  const schemas = { 'schema.json': [], 'test.schema.json': ['--test'] };
  for (const [file, flags] of Object.entries(schemas)) {
    const { stdout } = await run(process.execPath, [`${outdir}/taskflow.cjs`, 'schema', ...flags], { cwd: root });
    writeFileSync(`${outdir}/${file}`, `${JSON.stringify(JSON.parse(stdout))}\n`);
  }
  return [metafile];
}

/** The page of reports: one script and one style sheet, which a report file holds whole. */
export async function buildPage(outdir) {
  const { metafile } = await bundle({
    absWorkingDir: root,
    entryPoints: { page: 'src/ui/page/main.tsx', 'page-style': 'src/ui/page/page.css' },
    outdir,
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    legalComments: 'none',
    tsconfig: `${root}tsconfig.page.json`,
    logLevel: 'warning',
    metafile: true,
  });
  return [metafile];
}

/** The compiler follows the imports of the entry; each file it found is then one module of the library. */
async function buildLibrary(outdir) {
  const tsc = createRequire(import.meta.url)
    .resolve('typescript/package.json')
    .replace('package.json', 'bin/tsc');
  try {
    await run(process.execPath, [tsc, '-p', `${root}tsconfig.build.json`, '--outDir', outdir]);
  } catch (error) {
    throw new Error(`the types could not be made:\n${error.stdout || error.message}`);
  }
  const files = readdirSync(outdir, { recursive: true }).filter((file) => file.endsWith('.d.ts'));
  const entryPoints = files.map((file) => `src/${file.replace(/\.d\.ts$/, '.ts')}`);
  await bundle({ ...common, entryPoints, outbase: 'src', outdir, format: 'esm' });
}

/** Builds into a fresh folder and swaps it in, so that a reader never sees half a build. */
export async function build() {
  const staging = `${root}dist-${process.pid}`;
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  // Both to their end: one that still writes would bring the folder back.
  const parts = await Promise.allSettled([
    buildCommand(staging),
    buildPage(staging),
    buildLibrary(`${staging}/library`),
  ]);
  const failed = parts.find(({ status }) => status === 'rejected');
  if (failed) {
    rmSync(staging, { recursive: true, force: true });
    throw failed.reason;
  }
  const packages = bundledPackages([...parts[0].value, ...parts[1].value]);
  writeFileSync(`${staging}/${LICENCES}`, licenceText(root, packages));
  const target = `${root}dist`;
  const old = `${root}dist-old-${process.pid}`;
  try {
    renameSync(target, old);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(staging, target);
  rmSync(old, { recursive: true, force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build();
  const files = readdirSync(`${root}dist`, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  process.stdout.write(`built dist (${files.length} files)\n`);
}
