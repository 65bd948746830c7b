import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { checksum } from '../util/checksum.js';

/**
 * Loads the program in a few pieces instead of many small files. Compiling is a third of what a short run costs, so what
 * V8 has compiled is kept beside the code (whoever can write there can change the code anyway) and used as long as the
 * code, the Node version and the file itself are the same. Without it everything works, slower.
 */
interface Pack {
  /** Digest of its code. */
  readonly id: string;
  /** Once this chunk is loaded, all of the pack is in use, and what is compiled by then is worth keeping. */
  readonly last: string;
}

/** Put in by the bundler. */
declare const TASKFLOW_PACKS: Readonly<Record<string, Pack>>;

type Chunk = (module: { exports: unknown }, exports: unknown, require: (id: string) => unknown) => void;

const chunks: Record<string, Chunk> = Object.create(null);
const loaded: Record<string, { exports: unknown }> = Object.create(null);

/** What a chunk exports; it is run when it is first asked for. */
export function chunk(pack: string, name: string): unknown {
  if (!(name in chunks)) open(pack);
  return load(name);
}

function load(name: string): unknown {
  let module = loaded[name];
  if (module === undefined) {
    module = { exports: {} };
    loaded[name] = module;
    chunks[name]!(module, module.exports, find);
  }
  return module.exports;
}

function find(id: string): unknown {
  const name = id.slice(2);
  return id.startsWith('./') && name in chunks ? load(name) : require(id);
}

function open(name: string): void {
  const { id, last } = TASKFLOW_PACKS[name]!;
  const filename = join(__dirname, `${name}.pack.js`);
  const keptAt = join(__dirname, `${name}-${id}-${process.version}-${process.arch}.bin`);
  // The bundle is pure ASCII, which is read fastest this way.
  const source = `(function(chunks,__filename,__dirname){${readFileSync(filename, 'latin1')}\n})`;
  const kept = readKept(keptAt);
  const script = new Script(source, { filename, cachedData: kept?.code });
  script.runInThisContext()(chunks, filename, __dirname);
  const isUsed = kept !== undefined && script.cachedDataRejected !== true;
  if (isUsed && kept.isWhole) return;
  process.once('exit', () => {
    const isWhole = last in loaded;
    if (process.argv[2] === 'run' && (isWhole || !isUsed)) keep(keptAt, script.createCachedData(), isWhole);
  });
}

/** Checksum and whether all that a run needs was compiled, a word each. */
const HEADER_BYTES = 8;

/** V8 believes what it is given: a damaged file must not get there. */
function readKept(path: string): { readonly code: Buffer; readonly isWhole: boolean } | undefined {
  try {
    const bytes = readFileSync(path);
    const code = bytes.subarray(HEADER_BYTES);
    if (bytes.length <= HEADER_BYTES || bytes.readUInt32LE(0) !== checksum(code)) return undefined;
    return { code, isWhole: bytes.readUInt32LE(4) === 1 };
  } catch {
    // Not kept yet, or not readable: compiled anew.
    return undefined;
  }
}

function keep(path: string, code: Buffer, isWhole: boolean): void {
  const temporary = `${path}.${process.pid}.tmp`;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(checksum(code), 0);
  header.writeUInt32LE(isWhole ? 1 : 0, 4);
  try {
    writeFileSync(temporary, Buffer.concat([header, code]), { flag: 'wx' });
    renameSync(temporary, path);
  } catch {
    // A folder that we may not write to, or a full disk: the next run compiles again.
    rmSync(temporary, { force: true });
  }
}
