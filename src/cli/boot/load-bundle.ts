import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { removeAbandoned, writeFileAtomic } from '../../util/atomic-write.js';
import { sha256Hex } from '../../util/digest.js';
import { isInside, realPath } from '../../util/inside.js';
import { isInSomebodysFolder } from '../../util/own-folder.js';
import { userCacheDir } from '../../util/user-cache.js';
import { VERSION } from '../../util/version.js';

/**
 * Loads a bundle. Node's compile cache saves a third of a short run; before Node 22.1 we keep V8's data ourselves.
 * `hasUsedMost`: whether the functions that were compiled are worth keeping, asked when the process ends.
 */
export function loadBundle<T>(name: string, hasUsedMost: () => boolean = () => true): T {
  const file = join(__dirname, `${name}.cjs`);
  const folder = codeFolder();
  if (folder === undefined) return require(file);
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => void };
  if (enableCompileCache) {
    enableCompileCache(folder);
    return require(file);
  }
  return requireWithCachedData(file, folder, hasUsedMost);
}

/**
 * Compiled code is code: it is read only from a folder that this user alone can write, and that does not come with the
 * project that we are called in.
 */
function codeFolder(): string | undefined {
  const home = process.env['HOME'] || homedir();
  const folder = join(userCacheDir(process.env, home), 'code');
  // Root must not make folders in the home of another user.
  if (isInSomebodysFolder(folder)) return undefined;
  try {
    const project = projectAround(process.cwd(), home);
    if (project !== undefined && isInside(project, realPath(folder))) return undefined;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    return uid === process.getuid?.() && (mode & 0o077) === 0 ? folder : undefined;
  } catch {
    // No home folder, or one that cannot be written: compiled anew each time.
    return undefined;
  }
}

/** The nearest folder with a `.git`, else the folder itself; but neither the home folder nor the whole disk. */
function projectAround(from: string, home: string): string | undefined {
  for (let folder = from; folder !== home && folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
  }
  return from === home || from === dirname(from) ? undefined : from;
}

/** Each file is evaluated once, as with `require`. */
const loaded = new Map<string, { exports: object }>();

function requireWithCachedData<T>(file: string, folder: string, hasUsedMost: () => boolean): T {
  const known = loaded.get(file);
  if (known) return known.exports as T;
  const bytes = readFileSync(file);
  // One file per command, with the functions that it uses. V8 compares only the length of the source: hence the digest.
  const command = /^[a-z]{1,20}$/.exec(process.argv[2] ?? '')?.[0] ?? 'other';
  const path = join(
    folder,
    `${VERSION}-${process.version}-${process.arch}-${command}-${sha256Hex(bytes).slice(0, 16)}.bin`,
  );
  const source = nodeModule.Module.wrap(bytes.toString('latin1'));
  const kept = readChecked(path);
  const script = new Script(source, kept ? { filename: file, cachedData: kept } : { filename: file });
  if (!kept || script.cachedDataRejected) {
    atExit(() => {
      if (!hasUsedMost()) return;
      const data = script.createCachedData();
      writeFileAtomic(path, [sha256Hex(data), data]);
      removeAbandoned(folder, Date.now());
    });
  }
  const module = { exports: {} };
  loaded.set(file, module);
  // Files that it loads later are kept, too.
  const load = (name: string) => {
    return name.startsWith('./') ? requireWithCachedData(join(dirname(file), name), folder, () => true) : require(name);
  };
  script.runInThisContext()(module.exports, load, module, file, dirname(file));
  return module.exports as T;
}

/** In hex digits. */
const DIGEST_LENGTH = 64;

const lastly: (() => void)[] = [];

/** One listener for all files: Node warns of a leak at the eleventh. */
function atExit(action: () => void): void {
  if (lastly.length === 0) process.once('exit', () => lastly.forEach((each) => void each()));
  lastly.push(action);
}

/** V8 does not verify this data, so a damaged file must not get there. */
function readChecked(path: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const data = bytes.subarray(DIGEST_LENGTH);
    return sha256Hex(data) === bytes.toString('latin1', 0, DIGEST_LENGTH) ? data : undefined;
  } catch {
    // Not kept yet, or not readable: compiled anew.
    return undefined;
  }
}
