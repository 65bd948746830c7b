import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { writeFileAtomic } from '../util/atomic-write.js';
import { once, twice } from '../util/twice.js';
import { withUsualFlags } from './engine-flags.js';

/**
 * Loads the program in a few pieces instead of many small files. Compiling is a third of what a short run costs, so what
 * V8 has compiled is kept beside the code (whoever can write there can change the code anyway) and used as long as the
 * code, the Node version and the file itself are the same. Without it everything works, slower.
 */
interface Pack {
  /** Digest of its code. */
  readonly id: string;
  /** Of its chunks. */
  readonly names: readonly string[];
  /** Once this chunk is asked for, all of the pack is in use, and what is compiled by then is worth keeping. */
  readonly last: string;
}

/** What one run does not compile another one may: so often is it kept again before it is left as it is. */
const ENOUGH = 5;

/** Put in by the bundler. */
declare const TASKFLOW_PACKS: Readonly<Record<string, Pack>>;

/** What each chunk of the packs that are open exports. */
const chunks: Record<string, unknown> = Object.create(null);
const asked = new Set<string>();

/** Where a chunk stands is said by whoever asks for it from outside of the packs. */
export function chunk(pack: string, name: string): unknown {
  if (!(name in chunks)) open(pack);
  asked.add(name);
  return chunks[name];
}

/** Stands for `require` in a pack. */
function find(id: string): unknown {
  if (!id.startsWith('./')) return require(id);
  const name = id.slice(2);
  if (!(name in chunks)) {
    const pack = Object.keys(TASKFLOW_PACKS).find((other) => TASKFLOW_PACKS[other]!.names.includes(name));
    if (pack === undefined) return require(id.replace(/\.js$/, '.cjs'));
    open(pack);
  }
  asked.add(name);
  return chunks[name];
}

function open(name: string): void {
  const { id, last } = TASKFLOW_PACKS[name]!;
  const filename = join(__dirname, `${name}.pack.js`);
  const keptAt = join(__dirname, `${name}-${id}-${process.version}-${process.arch}.bin`);
  // The bundle is pure ASCII, which is read fastest this way.
  const source = `(function(chunks,require,__filename,__dirname){${readFileSync(filename, 'latin1')}\n})`;
  const kept = readKept(keptAt);
  const script = withUsualFlags(() => new Script(source, { filename, cachedData: kept?.code }));
  script.runInThisContext()(chunks, find, filename, __dirname);
  const isUsed = kept !== undefined && script.cachedDataRejected !== true;
  const times = isUsed ? kept.times : 0;
  if (times >= ENOUGH) return;
  process.once('exit', () => {
    const isInUse = asked.has(last);
    // Every command begins in the first pack; only a run has compiled what a run needs.
    const isWorthIt = isInUse || (!isUsed && (name !== 'start' || process.argv[2] === 'run'));
    if (!isWorthIt) return;
    const code = withUsualFlags(() => script.createCachedData());
    keep(keptAt, code, isInUse ? times + 1 : 0);
  });
}

/** V8 believes what it is given: a damaged file must not get there. The last byte says how often all of it was in use. */
function readKept(path: string): { readonly code: Buffer; readonly times: number } | undefined {
  try {
    const bytes = once(readFileSync(path));
    return bytes && { code: bytes.subarray(0, -1), times: bytes.at(-1)! };
  } catch {
    // Not kept yet, or not readable: compiled anew.
    return undefined;
  }
}

function keep(path: string, code: Buffer, times: number): void {
  // In a folder that we may not write to, or on a full disk, the next run compiles again.
  writeFileAtomic(path, twice(Buffer.concat([code, Buffer.of(times)])), 0o644);
}
