import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

/** Lower layers first. Folders in one layer may use each other as long as there is no cycle between them. */
const LAYERS: readonly (readonly string[])[] = [
  ['util'],
  ['model'],
  ['parse', 'process', 'store'],
  ['config'],
  ['plan', 'agent', 'memo'],
  ['check'],
  ['run'],
  ['report'],
  ['cli', 'library', 'library.ts', 'index.ts'],
];

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Static, dynamic and type imports of our own files. */
const IMPORTS: readonly Import[] = FILES.flatMap((from) => {
  const text = readFileSync(join(SRC, from), 'utf8');
  const found = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)];
  return found.map(([, path]) => ({
    from,
    to: relative(SRC, resolve(SRC, dirname(from), path!)).replace(/\.js$/, '.ts'),
  }));
});

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
    const upward = IMPORTS.filter(({ from, to }) => layerOf(to) > layerOf(from));
    expect(upward.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  it('no two folders import each other', () => {
    const edges = new Set(IMPORTS.map(({ from, to }) => `${folderOf(from)} ${folderOf(to)}`));
    const mutual = [...edges].filter((edge) => {
      const [a, b] = edge.split(' ') as [string, string];
      return a < b && edges.has(`${b} ${a}`);
    });
    expect(mutual).toEqual([]);
  });

  it('no cycle of files, type imports included', () => {
    const next = new Map<string, string[]>();
    for (const { from, to } of IMPORTS) next.set(from, [...(next.get(from) ?? []), to]);
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

describe('habits', () => {
  /** Code without comments, strings kept. */
  const code = (file: string) =>
    readFileSync(join(SRC, file), 'utf8')
      .replaceAll(/\/\*[\s\S]*?\*\//g, '')
      .replaceAll(/(^|\s)\/\/.*$/gm, '$1');
  const offenders = (pattern: RegExp, allowed: RegExp) =>
    FILES.filter((file) => !allowed.test(file) && pattern.test(code(file)));

  it('time, environment and folder come from the surfaces and the clock alone', () => {
    const surfaces = /^(cli\/|library\/|util\/clock\.ts)/;
    expect(offenders(/\bDate\.now\(|\bnew Date\(\)|\bprocess\.env\b|\bprocess\.cwd\(/, surfaces)).toEqual([]);
  });

  it('only surfaces print', () => {
    expect(offenders(/\bconsole\.|process\.(stdout|stderr)\b/, /^cli\//)).toEqual([]);
  });

  it('there is one way to spawn', () => {
    expect(offenders(/from 'node:child_process'/, /^process\//)).toEqual([]);
  });

  it('there is one digest function', () => {
    expect(offenders(/createHash\(/, /^util\/digest\.ts$/)).toEqual([]);
  });

  it('no file is longer than 400 lines', () => {
    expect(FILES.filter((file) => readFileSync(join(SRC, file), 'utf8').split('\n').length > 401)).toEqual([]);
  });
});
