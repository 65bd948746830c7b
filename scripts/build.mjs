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
    write: false,
    metafile: true,
    chunkNames: 'chunk-[hash]',
    // Some packages name a UMD build as `main`, whose require() calls a bundler cannot see.
    mainFields: ['module', 'main'],
  });
  const sources = new Map(outputFiles.map((file) => [file.path.split('/').pop(), file.text]));
  const lazyCommonJs = chunksOfCommonJs(metafile);
  const packs = await buildPacks(outdir, sources, metafile, lazyCommonJs);
  for (const [name, text] of sources) {
    const packed = packs.of.get(name);
    const code = packed
      ? `module.exports=require("./taskflow.cjs").chunk("${packed}","${name}");\n`
      : (await toCommonJs(text)) + (lazyCommonJs.has(name) ? REEXPORT_COMMON_JS : '');
    writeFileSync(`${outdir}/${name.replace(/\.js$/, '.cjs')}`, code);
  }
  await bundle({
    ...common,
    entryPoints: { taskflow: 'src/cli/main.ts' },
    outdir,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    minify: true,
    define: { ...common.define, TASKFLOW_PACKS: JSON.stringify(packs.table) },
  });
  chmodSync(`${outdir}/taskflow.cjs`, 0o755);
}

const CHUNK = /^\.\/(?:chunk-[A-Z0-9]+|dispatch)\.js$/;

const asCommonJs = {
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  minify: true,
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': '__filename' },
};

async function toCommonJs(esm) {
  const text = esm.replaceAll(/(["'])(\.\/[\w-]+)\.js\1/g, (all, quote, path) =>
    CHUNK.test(`${path}.js`) ? `${quote}${path}.cjs${quote}` : all,
  );
  return (await transform(text, asCommonJs)).code;
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
 * needs go into packs, in the order in which they are needed: each is one scope, in which calls need no look-up. The
 * last root of a pack is asked for only when all of it is of use. A pack leaves out what is in the ones above it.
 */
const PACKS = {
  /** A run in which nothing has changed. */
  start: ['src/cli/dispatch.ts', 'src/cli/commands/run.ts', 'src/run/repeat/repeat-run.ts'],
  /** What else has to be compared in such a run. */
  world: [/^node_modules\/picomatch\//, 'src/run/world.ts'],
  /** A run that is run. */
  engine: ['src/run/repeat/keep-sheet.ts', 'src/cli/run-flow.ts'],
  check: ['src/cli/commands/check.ts', 'src/check/check-flow.ts'],
  process: ['src/store/maybe-collect.ts', 'src/process/end-marked.ts', 'src/process/run-process.ts'],
  collect: ['src/store/collect-garbage.ts'],
  batch: ['src/run/batch/rows/read-txt.ts', 'src/cli/commands/batch.ts'],
  yaml: [/^node_modules\/yaml\//, 'src/parse/yaml.ts'],
};

async function buildPacks(outdir, sources, metafile, lazyCommonJs) {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [path.split('/').pop(), output]));
  const follow = (name, found) => {
    if (found.has(name) || !outputs.has(name)) return;
    found.add(name);
    for (const { path, kind } of outputs.get(name).imports)
      if (kind === 'import-statement') follow(path.split('/').pop(), found);
  };
  const entriesOf = (root) => {
    const isMeant = (source) => (typeof root === 'string' ? source === root : root.test(source));
    const names = [...outputs].flatMap(([name, { entryPoint }]) => (entryPoint && isMeant(entryPoint) ? [name] : []));
    if (names.length === 0) throw new Error(`nothing is loaded on demand as ${root}`);
    return names;
  };
  const of = new Map();
  const table = {};
  for (const [pack, roots] of Object.entries(PACKS)) {
    const found = new Set();
    for (const root of roots) for (const name of entriesOf(root)) follow(name, found);
    const names = [...found].filter((name) => !of.has(name));
    for (const name of names) of.set(name, pack);
    const exportsOf = (name) => outputs.get(name).exports;
    const code = inFunction(await packCode(names, sources, exportsOf, lazyCommonJs));
    writeFileSync(`${outdir}/${pack}.pack.js`, code);
    const id = createHash('sha256').update(code).digest('hex').slice(0, 16);
    table[pack] = { id, names, last: entriesOf(roots.at(-1))[0] };
  }
  return { of, table };
}

/** As `packs.ts` calls it. It stands in the file, so that nobody has to put two long texts together. */
function inFunction(code) {
  return `(function(chunks,require,__filename,__dirname){${code}\n})`;
}

/**
 * The chunks as one, each leaving what it exports where others find it; what is not among them is asked for. By value:
 * nothing of it is assigned again, and a getter at every use is a call. Name by name: of an `import *` the bundler makes an
 * object with a getter for each, a third of what loading the engine takes.
 */
async function packCode(names, sources, exportsOf, lazyCommonJs) {
  const contents = names.map((name, index) => {
    const own = exportsOf(name).map((exported, nth) => ({ exported, local: `c${index}_${nth}` }));
    const imported = own.map(({ exported, local }) => `${exported} as ${local}`);
    const members = own.map(({ exported, local }) => `${exported}:${local}`);
    const ofDefault = own.find(({ exported }) => exported === 'default');
    if (lazyCommonJs.has(name)) members.unshift(`...${ofDefault.local}`);
    return `import {${imported}} from "./${name}";chunks["${name}"]={${members}};`;
  });
  const { outputFiles } = await bundle({
    ...common,
    ...asCommonJs,
    stdin: { contents: contents.join('\n') },
    write: false,
    plugins: [
      {
        name: 'chunks',
        setup(build) {
          build.onResolve({ filter: CHUNK }, ({ path, kind }) => {
            const name = path.slice(2);
            // What is loaded on demand is asked for like something from outside, though it may be here already.
            return kind === 'import-statement' && names.includes(name)
              ? { path: name, namespace: 'chunk' }
              : { path, external: true };
          });
          build.onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path }) => ({
            contents: sources.get(path),
            loader: 'js',
          }));
        },
      },
    ],
  });
  return outputFiles[0].text;
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
