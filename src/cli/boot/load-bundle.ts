import { mkdirSync, readFileSync, statSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { removeAbandoned, writeFileAtomic } from '../../util/atomic-write.js';
import { isInSomebodysFolder } from '../../util/own-folder.js';
import { userCacheDir } from '../../util/user-cache.js';
import { VERSION } from '../../util/version.js';

/** Loads a bundle. Node's compile cache saves a third of a short run; before Node 22.1 we keep V8's data ourselves. */
export function loadBundle<T>(name: string): T {
  const file = join(__dirname, `${name}.cjs`);
  const folder = codeFolder();
  if (folder === undefined) return require(file);
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => void };
  if (enableCompileCache) {
    enableCompileCache(folder);
    return require(file);
  }
  return requireWithCachedData(file, folder);
}

/** Compiled code is code: it is read only from a folder that belongs to this user. */
function codeFolder(): string | undefined {
  const folder = join(userCacheDir(process.env, process.env['HOME'] || homedir()), 'code');
  // Root does not make folders in the home of another user.
  if (isInSomebodysFolder(folder)) return undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return statSync(folder).uid === process.getuid?.() ? folder : undefined;
  } catch {
    // No home folder, or one that cannot be written: compiled anew each time.
    return undefined;
  }
}

function requireWithCachedData<T>(file: string, folder: string): T {
  const bytes = readFileSync(file);
  // One file per command, with the functions that it uses. V8 compares only the length of the source: hence the sum.
  const command = /^[a-z]{1,20}$/.exec(process.argv[2] ?? '')?.[0] ?? 'other';
  const path = join(folder, `${VERSION}-${process.version}-${process.arch}-${command}-${crc32(bytes)}.bin`);
  const source = nodeModule.Module.wrap(bytes.toString('latin1'));
  const kept = readChecked(path);
  const script = new Script(source, kept ? { filename: file, cachedData: kept } : { filename: file });
  if (!kept || script.cachedDataRejected) {
    process.once('exit', () => {
      const data = script.createCachedData();
      writeFileAtomic(path, [sumOf(data), data]);
      removeAbandoned(folder, Date.now());
    });
  }
  const module = { exports: {} };
  script.runInThisContext()(module.exports, require, module, file, dirname(file));
  return module.exports as T;
}

/** V8 does not verify this data, so a damaged file must not reach it. */
function readChecked(path: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const data = bytes.subarray(4);
    return sumOf(data).equals(bytes.subarray(0, 4)) ? data : undefined;
  } catch {
    // Not kept yet, or not readable: compiled anew.
    return undefined;
  }
}

function sumOf(data: Buffer): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(crc32(data));
  return bytes;
}
