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

/** What one run does not compile another one may: until a run has no more to add, and later in runs that are long anyway. */
const LONG_RUN_S = 10;
/** Bytes. */
const WORTH_ADDING = 1_000;

/** How much of a pack is compiled in what is kept: some of it, what a run needed, or all that the runs needed. */
const [SOME, NEEDED, SETTLED] = [0, 1, 2];

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

/** Modules of Node, which every chunk of a pack asks for by itself: Node takes its time to answer. */
const builtins: Record<string, unknown> = Object.create(null);

/** Stands for `require` in a pack. */
function find(id: string): unknown {
  if (id in builtins) return builtins[id];
  if (!id.startsWith('./')) {
    builtins[id] = require(id);
    return builtins[id];
  }
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
  // A function. Node reads a text in UTF-8 in one go.
  const { script, used } = compile(readFileSync(filename, 'utf8'), filename, keptAt);
  script.runInThisContext()(chunks, find, filename, __dirname);
  process.once('exit', () => {
    if (used?.state === SETTLED && process.uptime() < LONG_RUN_S) return;
    const isInUse = asked.has(last);
    // Every command begins in the first pack; only a run has compiled what a run needs.
    const isWorthIt = isInUse || (!used && (name !== 'start' || process.argv[2] === 'run'));
    if (!isWorthIt) return;
    const code = withUsualFlags(() => script.createCachedData());
    if (!used || used.state === SOME) keep(keptAt, code, isInUse ? NEEDED : SOME);
    else if (code.length > used.length + WORTH_ADDING) keep(keptAt, code, used.state);
    else if (used.state === NEEDED) keep(keptAt, code, SETTLED);
  });
}

interface Used {
  readonly state: number;
  readonly length: number;
}

/** What was kept is let go of here: as long as it is held, every process that is started costs a copy of its page tables. */
function compile(source: string, filename: string, keptAt: string): { readonly script: Script; readonly used?: Used } {
  const kept = readKept(keptAt);
  const script = withUsualFlags(() => new Script(source, { filename, cachedData: kept?.code }));
  const isUsed = kept !== undefined && script.cachedDataRejected !== true;
  return isUsed ? { script, used: { state: kept.state, length: kept.code.length } } : { script };
}

/** V8 believes what it is given: a damaged file must not get there. The last byte is the state. */
function readKept(path: string): { readonly code: Buffer; readonly state: number } | undefined {
  try {
    const bytes = once(readFileSync(path));
    return bytes && { code: bytes.subarray(0, -1), state: bytes.at(-1)! };
  } catch {
    // Not kept yet, or not readable: compiled anew.
    return undefined;
  }
}

function keep(path: string, code: Buffer, state: number): void {
  // In a folder that we may not write to, or on a full disk, the next run compiles again.
  writeFileAtomic(path, twice(Buffer.concat([code, Buffer.of(state)])), 0o644);
}
