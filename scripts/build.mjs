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
    entryPoints: { dispatch: 'src/cli/dispatch.ts' },
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
    const esm = file.text.replaceAll(/(["'])\.\/((?:chunk-|dispatch)[\w-]*)\.js\1/g, '"./$2.cjs"');
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
  const packs = packChunks(chunks, metafile);
  for (const [name, code] of chunks) writeFileSync(`${outdir}/${name}`, code);
  await bundle({
    ...common,
    entryPoints: { taskflow: 'src/cli/main.ts' },
    outdir,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    minify: true,
    define: { ...common.define, TASKFLOW_PACKS: JSON.stringify(packs) },
  });
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

/**
 * Splitting makes dozens of small chunks, and finding and reading each costs more than running it. Those that a `run`
 * needs go into packs, in the order in which they are needed; the last root of a pack is reached only when all of it is
 * of use. A pack that stands further down leaves out what is in the ones above.
 */
const PACKS = {
  /** A run in which nothing has changed. */
  start: ['src/cli/dispatch.ts', 'src/cli/commands/run.ts', 'src/run/repeat/repeat-run.ts'],
  /** A run that is run. */
  engine: ['src/run/repeat/keep-sheet.ts', 'src/cli/run-flow.ts'],
};

/** In the files of packed chunks a line is left that asks for them there, so that every module still exists once. */
function packChunks(chunks, metafile) {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [cjsName(path), output]));
  const follow = (name, found) => {
    if (found.has(name) || !outputs.has(name)) return;
    found.add(name);
    for (const { path, kind } of outputs.get(name).imports)
      if (kind === 'import-statement') follow(cjsName(path), found);
  };
  const entryOf = (source) => [...outputs].find(([, { entryPoint }]) => entryPoint === source)[0];
  const packed = new Set();
  return Object.fromEntries(
    Object.entries(PACKS).map(([pack, roots]) => {
      const found = new Set();
      for (const root of roots) follow(entryOf(root), found);
      const own = [...found].filter((name) => !packed.has(name));
      const functions = own.map((name) => {
        packed.add(name);
        const code = chunks.get(name);
        chunks.set(name, `module.exports=require("./taskflow.cjs").chunk("${pack}","${name}");\n`);
        return `"${name}"(module,exports,require){${code}}`;
      });
      const code = `"use strict";Object.assign(chunks,{${functions.join(',\n')}});\n`;
      chunks.set(`${pack}.pack.js`, code);
      const id = createHash('sha256').update(code).digest('hex').slice(0, 16);
      return [pack, { id, last: entryOf(roots.at(-1)) }];
    }),
  );
}

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
