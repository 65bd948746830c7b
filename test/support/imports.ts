import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
export const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
const THERE = new Set(FILES);

export function sourceOf(file: string): string {
  return readFileSync(join(SRC, file), 'utf8');
}

export interface Import {
  readonly from: string;
  /** A file of ours, or the name of a package. */
  readonly to: string;
  readonly own: boolean;
  /** Nothing of it is there when the program runs. */
  readonly typeOnly: boolean;
}

const STATIC = /^(?:import|export)\s+(type\s+)?(?:(\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+)\s+from\s+)?'([^']+)'/gm;
const DYNAMIC = /(typeof\s+)?\bimport\(\s*'([^']+)'/g;

/** Static and dynamic imports, and exports from elsewhere. */
function importsOf(from: string): Import[] {
  const text = sourceOf(from);
  const found = [
    ...[...text.matchAll(STATIC)].map(([, type, names = '', path]) => ({
      path: path!,
      typeOnly: type !== undefined || namesTypesOnly(names),
    })),
    ...[...text.matchAll(DYNAMIC)].map(([, type, path]) => ({ path: path!, typeOnly: type !== undefined })),
  ];
  return found.map(({ path, typeOnly }) => {
    const own = path.startsWith('.');
    const target = relative(SRC, resolve(SRC, dirname(from), path)).replace(/\.js$/, '.ts');
    const file = THERE.has(`${target}x`) ? `${target}x` : target;
    return { from, to: own ? file : packageOf(path), own, typeOnly };
  });
}

/** `{ type A, type B }` */
function namesTypesOnly(names: string): boolean {
  if (!names.startsWith('{')) return false;
  const list = names.slice(1, -1).split(',');
  return list.every((name) => name.trim() === '' || name.trim().startsWith('type '));
}

function packageOf(path: string): string {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
}

export const IMPORTS: readonly Import[] = FILES.flatMap(importsOf);
/** Of our own files by each other. */
export const OWN_IMPORTS: readonly Import[] = IMPORTS.filter(({ own }) => own);

export function arrow({ from, to }: Import): string {
  return `${from} -> ${to}`;
}
