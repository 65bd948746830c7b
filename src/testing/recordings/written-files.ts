import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { STATE_DIR } from '../../util/project.js';
import { lstatIfThere } from '../../util/stat.js';
import { lines, type Recording, textOf } from './recording.js';
import type { Content } from './schema.js';

type Stamps = ReadonlyMap<string, string>;

const NOT_LOOKED_AT = new Set(['.git', 'node_modules', STATE_DIR]);

/** Size and time of every file below a folder, but for what git, npm and taskflow keep there. */
export function stampsOf(base: string): Stamps {
  const stamps = new Map<string, string>();
  const open = [''];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of entriesOf(join(base, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (NOT_LOOKED_AT.has(path) || entry.name === '.git') continue;
      if (entry.isDirectory()) open.push(path);
      else if (entry.isFile()) {
        const stat = lstatIfThere(join(base, path));
        if (stat) stamps.set(path, `${stat.size} ${stat.mtimeMs} ${stat.ino} ${stat.mode}`);
      }
    }
  }
  return stamps;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Removed meanwhile.
    return [];
  }
}

/** The files that were written or removed since, in the form of a recording. */
export function changedFiles(base: string, before: Stamps, hide: (text: string) => string): Recording['files'] {
  const after = stampsOf(base);
  const files: Record<string, Content | null> = {};
  for (const path of [...new Set([...after.keys(), ...before.keys()])].sort()) {
    if (!after.has(path)) files[path] = null;
    else if (after.get(path) !== before.get(path)) files[path] = contentOf(join(base, path), hide);
  }
  return files;
}

function contentOf(path: string, hide: (text: string) => string): Content {
  const bytes = readFileSync(path);
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text, 'utf8').equals(bytes);
  const isExecutable = ((lstatIfThere(path)?.mode ?? 0) & 0o111) !== 0;
  if (isText && !isExecutable) return lines(hide(text));
  const content = isText ? { text: lines(hide(text)) } : { base64: bytes.toString('base64') };
  return { ...content, ...(isExecutable && { executable: true as const }) };
}

/** Writes the files that the agent wrote when it was recorded. */
export function writeFiles(base: string, files: Recording['files'], reveal: (text: string) => string): void {
  for (const [path, content] of Object.entries(files)) {
    const target = join(base, path);
    if (content === null) {
      rmSync(target, { force: true });
      continue;
    }
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytesOf(content, reveal));
    if (isExecutable(content)) chmodSync(target, 0o755);
  }
}

function bytesOf(content: Content, reveal: (text: string) => string): Buffer {
  if (typeof content === 'string' || Array.isArray(content)) return Buffer.from(reveal(textOf(content)), 'utf8');
  if (content.base64 !== undefined) return Buffer.from(content.base64, 'base64');
  return Buffer.from(reveal(textOf(content.text ?? '')), 'utf8');
}

function isExecutable(content: Content): boolean {
  return typeof content === 'object' && !Array.isArray(content) && content.executable === true;
}
