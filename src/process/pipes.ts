import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { makeTemporaryFolder } from '../util/temporary-folder.js';

/** Pipes that are made at once; a process takes two. First for a run with few processes, then for one with many. */
const [FIRST, MORE] = [4, 64];
/** What a pipe holds at most. */
export const PIPE_BYTES = 64 * 1024;
const MOST_READS = 4;
/** A temporary folder that does not answer must not hold everything up for good. */
const PATIENCE_MS = 5_000;
const LEFT_BEHIND_MS = 3_600_000;

/**
 * A real pipe: Node gives its children sockets, which no program can open by name (`> /dev/stderr`). Read without
 * waiting, at the moments when there is something to read.
 */
export class Pipe {
  constructor(readonly file: number) {}

  /** For a process that is about to start; close it once it has. */
  openForWriting(): number {
    return openSync(`/proc/self/fd/${this.file}`, constants.O_WRONLY);
  }

  /**
   * Passes on what is in it. True when no process can write to it any more: then it can be used again. Reads no more
   * than a pipe holds: the rest comes from a process that still writes, perhaps faster than we read.
   */
  readToEnd(onChunk: (chunk: Buffer) => void): boolean {
    for (let reads = 0; reads < MOST_READS; reads += 1) {
      const length = this.read(onChunk);
      if (length === undefined) return false;
      if (length === 0) return true;
    }
    return false;
  }

  /** Reads at most what a pipe holds. Returns how many bytes; 0 at the end, undefined when there is nothing yet. */
  read(onChunk: (chunk: Buffer) => void): number | undefined {
    const length = readAvailable(this.file);
    if (length) onChunk(Buffer.from(chunk.subarray(0, length)));
    return length;
  }
}

function readAvailable(file: number): number | undefined {
  try {
    return readSync(file, chunk, 0, PIPE_BYTES, null);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

const chunk = Buffer.allocUnsafeSlow(PIPE_BYTES);
const free: Pipe[] = [];
let canBeMade = process.platform === 'linux';
let next = FIRST;

/** Undefined where no pipe can be made: no `mkfifo`, no temporary folder, too many open files. */
export function takePipe(): Pipe | undefined {
  if (free.length === 0 && canBeMade) {
    canBeMade = makePipes(next);
    next = MORE;
  }
  return free.pop();
}

/** Makes a pipe that was read to its end available again. */
export function giveBack(pipe: Pipe): void {
  free.push(pipe);
}

/** The same for one that its reader is about to close. */
export function giveBackOpen({ file }: Pipe): void {
  try {
    free.push(new Pipe(openSync(`/proc/self/fd/${file}`, constants.O_RDONLY | constants.O_NONBLOCK)));
  } catch {
    // Too many open files: the next process makes new pipes.
  }
}

/** Node cannot make one. They need a name only until they are open. */
function makePipes(count: number): boolean {
  const made: Pipe[] = [];
  let folder: string | undefined;
  try {
    // Only a run that starts many processes spends time on what other runs left.
    folder = makeTemporaryFolder('pipes', count > FIRST ? LEFT_BEHIND_MS : Infinity);
    const paths = Array.from({ length: count }, (_, index) => `${folder}/${index}`);
    const { status } = spawnSync('mkfifo', ['-m', '600', ...paths], { stdio: 'ignore', timeout: PATIENCE_MS });
    if (status !== 0) throw new Error('no pipes');
    for (const path of paths) {
      made.push(new Pipe(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)));
      unlinkSync(path);
    }
    rmdirSync(folder);
    closeSync(made[0]!.openForWriting());
    free.push(...made);
    return true;
  } catch {
    // Without pipes of ours Node makes its own.
    for (const { file } of made) closeSync(file);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    return false;
  }
}
