import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { arrow, FILES, IMPORTS, OWN_IMPORTS, SRC, sourceOf } from './support/imports.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Lower layers first. Folders in one layer may use each other as long as there is no cycle between them. */
const LAYERS: readonly (readonly string[])[] = [
  ['util'],
  ['model'],
  ['parse', 'process', 'store'],
  ['remote'],
  ['config', 'observe'],
  ['plan', 'agent', 'memo'],
  ['check'],
  ['run'],
  ['testing', 'assemble', 'queue'],
  ['report'],
  // The command line opens the other surfaces and lends them its commands; they know nothing of it.
  ['mcp', 'ui'],
  ['cli', 'library', 'index.ts', 'pi'],
];

/** Within a folder, each room uses the rooms before it. Types may come from anywhere. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  run: [
    ...['core', 'render', 'execute', 'journal', 'effects', 'history', 'reuse', 'units', 'kinds', 'context', 'schedule'],
    ...['continue', 'snapshot', 'hooks', 'start', 'forecast', 'batch'],
  ],
  testing: ['file', 'recordings', 'project', 'expect', 'suite'],
  ui: ['view', 'page', 'report', 'server'],
  cli: [
    ...['terminal', 'errors', 'text', 'flags', 'load', 'view', 'graph', 'templates', 'doctor', 'run', 'batch'],
    ...['test', 'commands', 'boot'],
  ],
};

function folderOf(file: string): string {
  return file.split('/')[0]!;
}

function layerOf(file: string): number {
  return LAYERS.findIndex((folders) => folders.includes(folderOf(file)));
}

describe('the layers', () => {
  it('every folder has its place', () => {
    expect(FILES.filter((file) => layerOf(file) === -1)).toEqual([]);
  });

  it('imports point down', () => {
    expect(OWN_IMPORTS.filter(({ from, to }) => layerOf(to) > layerOf(from)).map(arrow)).toEqual([]);
  });

  it('no two folders import each other', () => {
    const edges = new Set(OWN_IMPORTS.map(({ from, to }) => `${folderOf(from)} ${folderOf(to)}`));
    const mutual = [...edges].filter((edge) => {
      const [a, b] = edge.split(' ') as [string, string];
      return a < b && edges.has(`${b} ${a}`);
    });
    expect(mutual).toEqual([]);
  });

  it('surfaces do not import each other; the command line opens them', () => {
    const surface = (file: string) => /^(cli|library|mcp|pi|ui)\b/.exec(file)?.[0];
    const between = OWN_IMPORTS.filter(({ from, to }) => {
      const [a, b] = [surface(from), surface(to)];
      return a !== undefined && b !== undefined && a !== b && (a !== 'cli' || b === 'library');
    });
    expect(between.map(arrow)).toEqual([]);
  });

  it('no cycle of files, type imports included', () => {
    const next = new Map<string, string[]>();
    for (const { from, to } of OWN_IMPORTS) next.set(from, [...(next.get(from) ?? []), to]);
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: string[]) => {
      const at = path.indexOf(file);
      if (at !== -1) {
        cycles.push([...path.slice(at), file].join(' -> '));
        return;
      }
      if (done.has(file)) return;
      for (const target of next.get(file) ?? []) visit(target, [...path, file]);
      done.add(file);
    };
    for (const file of FILES) visit(file, []);
    expect(cycles).toEqual([]);
  });
});

describe.each(Object.entries(ROOMS))('the rooms of %s', (folder, rooms) => {
  const roomOf = (file: string) => (file.startsWith(`${folder}/`) ? file.split('/')[1]! : undefined);

  it('every file is in one of them', () => {
    const inside = FILES.filter((file) => roomOf(file) !== undefined);
    expect(inside.filter((file) => !rooms.includes(roomOf(file)!))).toEqual([]);
  });

  it('use only the rooms before them', () => {
    const wrong = OWN_IMPORTS.filter(({ from, to, typeOnly }) => {
      const [a, b] = [roomOf(from), roomOf(to)];
      return !typeOnly && a !== undefined && b !== undefined && rooms.indexOf(b) > rooms.indexOf(a);
    });
    expect(wrong.map(arrow)).toEqual([]);
  });
});

describe('habits', () => {
  /** Code without comments, strings kept. */
  const code = (file: string) =>
    sourceOf(file)
      .replaceAll(/\/\*[\s\S]*?\*\//g, '')
      .replaceAll(/(^|\s)\/\/.*$/gm, '$1');
  const offenders = (pattern: RegExp, allowed: RegExp) =>
    FILES.filter((file) => !allowed.test(file) && pattern.test(code(file)));
  const nowhere = /^$/;

  it('time, environment and folder come from the surfaces and the clock alone', () => {
    const surfaces = /^(cli\/|library\/|ui\/|util\/clock\.ts)/;
    expect(offenders(/\bDate\.now\(|\bnew Date\(\)|\bprocess\.env\b|\bprocess\.cwd\(/, surfaces)).toEqual([]);
  });

  it('only surfaces print', () => {
    expect(offenders(/\bconsole\.|process\.(stdout|stderr)\b/, /^cli\//)).toEqual([]);
  });

  it('there is one way to spawn', () => {
    // The extension for pi is one file that imports nothing of ours.
    expect(offenders(/from 'node:child_process'/, /^(process\/|pi\/extension\.ts)/)).toEqual([]);
  });

  it('there is one digest function', () => {
    expect(offenders(/createHash\(/, /^util\/digest\.ts$/)).toEqual([]);
  });

  it('the engine is run as it comes: no V8 flags', () => {
    expect(offenders(/setFlagsFromString|['"]node:v8['"]|execArgv/, nowhere)).toEqual([]);
  });

  it('no file is longer than 400 lines', () => {
    expect(FILES.filter((file) => sourceOf(file).split('\n').length > 401)).toEqual([]);
  });
});

describe('libraries', () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const used = new Set(IMPORTS.filter(({ own, typeOnly }) => !own && !typeOnly).map(({ to }) => to));

  /** Only in bundles that one command loads: whoever installs the package does not install them. */
  const bundled = ['@modelcontextprotocol/server', '@preact/signals', 'chokidar', 'preact', 'zod'];

  it('what the package depends on is imported for its values, and the other way round', () => {
    const packages = [...used].filter((name) => !name.startsWith('node:'));
    expect(packages.sort()).toEqual([...Object.keys({ ...dependencies, ...peerDependencies }), ...bundled].sort());
  });
});

/** Numbers that only fall: whoever makes one smaller writes the new one here. */
/** The one function is `runBatch` of the library, whose last parameter is an options object. */
const MOST = { parameters: 1, wide: 0 };

describe('what is still to be mended becomes less', () => {
  it('functions with more than three parameters', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rules-'));
    const useMaxParams = { level: 'error', options: { max: 3 } };
    const rules = { preset: 'none', complexity: { useMaxParams } };
    writeFileSync(join(folder, 'biome.json'), JSON.stringify({ linter: { rules } }));
    const biome = join(ROOT, 'node_modules/.bin/biome');
    const args = ['lint', `--config-path=${folder}`, '--reporter=json', '--max-diagnostics=none', SRC];
    const { stdout, stderr } = spawnSync(biome, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 });
    const { summary } = JSON.parse(stdout || `{"summary": ${JSON.stringify(stderr)}}`);
    const styles = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.css'));
    expect(summary.unchanged).toBe(FILES.length + styles.length);
    expect(summary.errors).toBeLessThanOrEqual(MOST.parameters);
  });

  it('lines over 120 columns', () => {
    const { stdout } = spawnSync('git', ['ls-files', 'src', 'test', 'scripts', 'bench', '.ci', '.github'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    const files = stdout.split('\n').filter((file) => /\.(tsx?|mjs|cjs|sh|yml|css)$|run$/.test(file));
    const wide = files.flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line, at) => ([...line].length > 120 ? [`${file}:${at + 1}`] : [])),
    );
    expect(files.length).toBeGreaterThan(500);
    expect(wide.length).toBeLessThanOrEqual(MOST.wide);
  });
});
