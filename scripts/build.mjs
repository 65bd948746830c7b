// Builds what users get: the command (one CommonJS file behind a small loader) and the library (ES modules).
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  define: { TASKFLOW_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
};

/** Modules behind `await import()` stay in the one file and are evaluated when they are asked for. */
async function buildCommand(outdir) {
  const commonJs = { ...common, outdir, outExtension: { '.js': '.cjs' }, format: 'cjs', minify: true };
  await Promise.all([
    bundle({
      ...commonJs,
      entryPoints: { cli: 'src/cli/boot/dispatch.ts' },
      // Some packages name a UMD build as `main`, whose require() calls a bundler cannot see.
      mainFields: ['module', 'main'],
    }),
    bundle({ ...commonJs, entryPoints: { taskflow: 'src/cli/boot/main.ts' } }),
  ]);
  chmodSync(`${outdir}/taskflow.cjs`, 0o755);
}

async function buildLibrary(outdir) {
  await bundle({
    ...common,
    entryPoints: { index: 'src/index.ts' },
    outdir,
    format: 'esm',
    splitting: true,
    packages: 'external',
    chunkNames: 'lib-[hash]',
  });
}

/** Builds into a fresh folder and swaps it in, so that a reader never sees half a build. */
export async function build() {
  const staging = `${root}dist-${process.pid}`;
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  try {
    await Promise.all([buildCommand(staging), buildLibrary(staging)]);
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw error;
  }
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
  const files = readdirSync(`${root}dist`);
  process.stdout.write(`built dist (${files.length} files)\n`);
}
