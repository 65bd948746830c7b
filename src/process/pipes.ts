import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { makeTemporaryFolder } from '../util/temporary-folder.js';

/** Two for each process: as many as a run needs that starts just a few, then as many as one that starts a lot. */
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

  /** For a process that is about to be started; to be closed when it has been. */
  openForWriting(): number {
    return openSync(`/proc/self/fd/${this.file}`, constants.O_WRONLY);
  }

  /**
   * Passes on what is in it. True when nobody can write to it any more: then it can be used again. More than a pipe
   * holds comes from somebody who still writes, perhaps faster than we read.
   */
  readToEnd(onChunk: (chunk: Buffer) => void): boolean {
    for (let reads = 0; reads < MOST_READS; reads += 1) {
      const length = this.read(onChunk);
      if (length === undefined) return false;
      if (length === 0) return true;
    }
    return false;
  }

  /** As much as a pipe holds, at the most. How many bytes; 0 at the end, undefined when there is nothing yet. */
  read(onChunk: (chunk: Buffer) => void): number | undefined {
    const length = readIfThere(this.file);
    if (length) onChunk(Buffer.from(chunk.subarray(0, length)));
    return length;
  }
}

function readIfThere(file: number): number | undefined {
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

/** Undefined where there are none to be had: no `mkfifo`, no folder for temporary files, no files left to open. */
export function takePipe(): Pipe | undefined {
  if (free.length === 0 && canBeMade) {
    canBeMade = makePipes(next);
    next = MORE;
  }
  return free.pop();
}

/** Only one that was read to its end. */
export function giveBack(pipe: Pipe): void {
  free.push(pipe);
}

/** The same for one that its reader is about to close. */
export function giveBackOpen({ file }: Pipe): void {
  try {
    free.push(new Pipe(openSync(`/proc/self/fd/${file}`, constants.O_RDONLY | constants.O_NONBLOCK)));
  } catch {
    // No files left to open: whoever needs a pipe makes new ones.
  }
}

/** Node cannot make one. They need a name only until they are open. */
function makePipes(count: number): boolean {
  const made: Pipe[] = [];
  let folder: string | undefined;
  try {
    // A run that starts many processes has the time to clean up after others.
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
