// Bundles the CLI (CommonJS chunks: they start about 10 ms sooner than ES modules on Node 20) and the library (ESM).
// esbuild splits code only for ES modules, so the CLI is split first and each chunk is then rewritten as CommonJS.
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build as bundle, transform } from 'esbuild';

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

export async function buildCli(outdir) {
  const { outputFiles, metafile } = await bundle({
    ...common,
    entryPoints: { taskflow: 'src/cli/main.ts' },
    outdir,
    format: 'esm',
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    chunkNames: 'chunk-[hash]',
    // Some packages name a UMD build as `main`, whose require() calls a bundler cannot see.
    mainFields: ['module', 'main'],
  });
  const lazyCommonJs = chunksOfCommonJs(metafile);
  for (const file of outputFiles) {
    const name = file.path.split('/').pop();
    const esm = file.text.replaceAll(/(["'])\.\/((?:chunk-|taskflow)[\w-]*)\.js\1/g, '"./$2.cjs"');
    const { code } = await transform(esm, {
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      minify: true,
      supported: { 'dynamic-import': false },
      define: { 'import.meta.url': '__filename' },
    });
    const tail = lazyCommonJs.has(name) ? REEXPORT_COMMON_JS : '';
    writeFileSync(`${outdir}/${name.replace(/\.js$/, '.cjs')}`, code + tail);
  }
  chmodSync(`${outdir}/taskflow.cjs`, 0o755);
}

/**
 * `await import('package')` of a CommonJS package becomes a chunk that exports only `default`. Node gives such an import
 * the package's names as well, and the sources rely on it.
 */
const REEXPORT_COMMON_JS =
  ';module.exports=Object.assign({},module.exports.default,module.exports,{default:module.exports.default,__esModule:true});\n';

function chunksOfCommonJs(metafile) {
  const names = Object.entries(metafile.outputs)
    .filter(([, { entryPoint }]) => entryPoint && metafile.inputs[entryPoint]?.format === 'cjs')
    .map(([path]) => path.split('/').pop());
  return new Set(names);
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
  await Promise.all([buildCli(staging), buildLibrary(staging)]);
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
