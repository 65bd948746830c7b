import { closeSync } from 'node:fs';
import { delay } from '../util/timer.js';
import { endTree } from './end-tree.js';
import { OutStream } from './out-stream.js';
import { giveBack, type Pipe, takePipe } from './pipes.js';
import type { Trace } from './process.js';
import { identityOf, isAlive } from './process-identity.js';

/** A trace that says nothing for so long, although everybody should be gone, waits for somebody. */
const QUIET_MS = 100;
/** After the last process: the tracer has only to close the trace. */
const PATIENCE_MS = 5_000;

/**
 * What a tracer writes about a process, from its first call until the tracer is gone. The tracer waits while nobody
 * reads, so a trace of any length takes little memory.
 */
export class TraceStream {
  /** By which the tracer opens it. Nothing of it is in any folder. */
  readonly path: string;
  readonly #stream: OutStream;
  /** Keeps the pipe from ending before the tracer has opened it. */
  #writer: number | undefined;
  #received = 0;
  #closed: () => void = () => {};
  readonly #isClosed: Promise<true>;

  /** Undefined where there are no pipes to be had. */
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
    pipe: Pipe,
    private readonly trace: Trace,
  ) {
    this.path = `/proc/${process.pid}/fd/${pipe.file}`;
    this.#writer = pipe.openForWriting();
    this.#stream = new OutStream(pipe);
    this.#isClosed = new Promise((resolve) => {
      this.#closed = () => resolve(true);
    });
    this.#stream.connect(
      (chunk) => {
        this.#letGo();
        this.#received += 1;
        trace.add(chunk);
      },
      () => this.#closed(),
    );
    this.#stream.follow();
  }

  /** Nothing was started. */
  abandon(): void {
    this.#letGo();
    this.#stream.close();
  }

  /**
   * Reads to the end, and ends whoever outlives the process: without its tracer, none of its calls would be answered.
   * True if the tracer has said everything.
   */
  async finish(graceMs: number | undefined): Promise<boolean> {
    for (let before = -1; !this.#stream.isClosed && before !== this.#received; ) {
      before = this.#received;
      await this.#closedWithin(QUIET_MS);
    }
    if (!this.#stream.isClosed) {
      const left = [...this.trace.alive()].filter((pid) => isAlive(identityOf(pid)));
      await Promise.all(left.map((root) => endTree({ root }, graceMs)));
      this.#letGo();
      await this.#closedWithin(PATIENCE_MS);
    }
    const isWhole = this.#stream.isClosed;
    if (!isWhole) this.#stream.close();
    return isWhole;
  }

  async #closedWithin(limitMs: number): Promise<void> {
    await Promise.race([this.#isClosed, delay(limitMs, { ref: false })]);
  }

  #letGo(): void {
    if (this.#writer !== undefined) closeSync(this.#writer);
    this.#writer = undefined;
  }
}
