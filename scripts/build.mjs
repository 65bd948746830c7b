// Bundles the CLI (CommonJS chunks: they start about 10 ms sooner than ES modules on Node 20) and the library (ESM).
// esbuild splits code only for ES modules, so the CLI is split first and each chunk is then rewritten as CommonJS.
import { createHash } from 'node:crypto';
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
  const chunks = new Map();
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
    chunks.set(name.replace(/\.js$/, '.cjs'), code + tail);
  }
  packHotPath(chunks, metafile);
  for (const [name, code] of chunks) writeFileSync(`${outdir}/${name}`, code);
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

/** What a warm `taskflow run` executes. */
const HOT_PATH = ['src/cli/dispatch.ts', 'src/cli/commands/run.ts'];

/**
 * Splitting makes dozens of small chunks, and finding and reading each costs more than running it. Those of the hot path
 * go into one file as functions that run when they are first required; in their own files a line is left that asks for
 * them there, so that every module still exists once.
 */
function packHotPath(chunks, metafile) {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [cjsName(path), output]));
  const follow = (name, found = new Set()) => {
    if (found.has(name) || !outputs.has(name)) return found;
    found.add(name);
    for (const { path, kind } of outputs.get(name).imports)
      if (kind === 'import-statement') follow(cjsName(path), found);
    return found;
  };
  // What `--version` needs stays apart.
  const apart = follow('taskflow.cjs');
  const hot = new Set();
  for (const [name, { entryPoint }] of outputs) if (HOT_PATH.includes(entryPoint)) follow(name, hot);
  const functions = [...hot]
    .filter((name) => !apart.has(name))
    .map((name) => {
      const code = chunks.get(name);
      chunks.set(name, `module.exports=require("./hot-path.cjs")(${JSON.stringify(name)});\n`);
      return `${JSON.stringify(name)}(module,exports,require){${code}}`;
    });
  const code = `${HOT_PATH_CHUNKS}const chunks={__proto__:null,${functions.join(',\n')}};\n`;
  const loader = readFileSync(`${root}scripts/hot-path-loader.cjs`, 'utf8');
  chunks.set('hot-path.js', code);
  chunks.set('hot-path.cjs', loader.replace('BUILD_ID', createHash('sha256').update(code).digest('hex').slice(0, 16)));
}

const HOT_PATH_CHUNKS = `"use strict";const loaded={__proto__:null};
const load=(name)=>{let module=loaded[name];if(module===undefined){module=loaded[name]={exports:{}};chunks[name](module,module.exports,find)}return module.exports};
const find=(id)=>id.startsWith("./")&&id.slice(2) in chunks?load(id.slice(2)):require(id);
module.exports=load;
`;

function cjsName(path) {
  return path.split('/').pop().replace(/\.js$/, '.cjs');
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
    await Promise.all([buildCli(staging), buildLibrary(staging)]);
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
