import { closeSync } from 'node:fs';
import { delay } from '../util/timer.js';
import { endTree } from './end-tree.js';
import { giveBack, PIPE_BYTES, type Pipe, takePipe } from './pipes.js';
import type { Trace } from './process.js';
import { identityOf, isAlive } from './process-identity.js';

/**
 * Pauses between reads. A tracer writes a line at a time, and to wake up for each would cost as much as the tracing. If
 * it fills the pipe meanwhile, it waits. The less it writes, the longer the pause.
 */
const [LOOK_MS, LOOK_LESS_MS] = [10, 80];
const [LITTLE, MUCH] = [PIPE_BYTES / 8, PIPE_BYTES / 2];
/** After the end of the process there is little left to come. */
const LAST_LOOK_MS = 1;
/** A trace that is silent for this long, although all processes should be gone, waits for one that is not. */
const QUIET_MS = 100;
/** After the last process: the tracer has only to close the trace. */
const PATIENCE_MS = 5_000;

/**
 * What a tracer writes about a process, from its first call until the tracer is gone. The tracer waits while nobody
 * reads, so a trace of any length takes little memory.
 */
export class TraceStream {
  /** Under /proc, for the tracer to open: the pipe has no name in any folder. */
  readonly path: string;
  /** Keeps the pipe from ending before the tracer has opened it. */
  #writer: number | undefined;
  #received = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  /** Undefined where no pipe can be made. */
  static open(trace: Trace): TraceStream | undefined {
    const pipe = takePipe();
    try {
      return pipe && new TraceStream(pipe, trace);
    } catch {
      // No more files can be opened.
      if (pipe) giveBack(pipe);
      return undefined;
    }
  }

  private constructor(
    private readonly pipe: Pipe,
    private readonly trace: Trace,
  ) {
    this.path = `/proc/${process.pid}/fd/${pipe.file}`;
    this.#writer = pipe.openForWriting();
    this.#lookLater();
  }

  /** Nothing was started. */
  abandon(): void {
    clearTimeout(this.#timer);
    this.#letGo();
    giveBack(this.pipe);
  }

  /**
   * Reads to the end, and ends processes that outlive the first one: without the tracer, their calls would hang. True
   * if the trace is complete.
   */
  async finish(graceMs: number | undefined): Promise<boolean> {
    clearTimeout(this.#timer);
    await this.#readFor(QUIET_MS);
    if (!this.#isClosed) {
      const left = [...this.trace.alive()].filter((pid) => isAlive(identityOf(pid)));
      this.#lookLater();
      await Promise.all(left.map((root) => endTree({ root }, graceMs)));
      clearTimeout(this.#timer);
      this.#letGo();
      await this.#readFor(PATIENCE_MS);
    }
    // Not used again while a process still writes to it.
    if (this.#isClosed) giveBack(this.pipe);
    else closeSync(this.pipe.file);
    return this.#isClosed;
  }

  #lookLater(ms = LOOK_MS): void {
    this.#timer = setTimeout(() => {
      const before = this.#received;
      this.#look();
      const more = this.#received - before;
      const next = more > MUCH ? LOOK_MS : more < LITTLE ? Math.min(ms * 2, LOOK_LESS_MS) : ms;
      if (!this.#isClosed) this.#lookLater(next);
    }, ms);
  }

  /** Reads until the trace ends, or was silent for this long. */
  async #readFor(silentMs: number): Promise<void> {
    for (let silent = 0; silent < silentMs; silent += LAST_LOOK_MS) {
      const before = this.#received;
      this.#look();
      if (this.#isClosed) return;
      if (this.#received !== before) silent = 0;
      await delay(LAST_LOOK_MS);
    }
  }

  /** Reads what the pipe holds. */
  #look(): void {
    for (let length: number | undefined = PIPE_BYTES; length === PIPE_BYTES; ) {
      length = this.pipe.read((chunk) => this.trace.add(chunk));
      if (length === 0) this.#isClosed = true;
      if (!length) return;
      this.#letGo();
      this.#received += length;
    }
  }

  #letGo(): void {
    if (this.#writer !== undefined) closeSync(this.#writer);
    this.#writer = undefined;
  }
}
