import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { OutStream } from './out-stream.js';
import type { Pipe } from './pipes.js';

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Listener {
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
}

/**
 * Pauses between the first reads of a process's output. Most short processes end before the first read, and a full pipe
 * is emptied soon. After the last of these reads the output is passed on as it comes.
 */
const LOOKS_MS = [2, 4, 8] as const;

/** A started process: its end, and its output until then. */
export class Child {
  exit: Exit | undefined;
  readonly #stdin: Writable | null;
  readonly #streams: readonly OutStream[];
  #timer: NodeJS.Timeout | undefined;
  #onExit: ((exit: Exit) => void)[] = [];
  #onClose: (() => void)[] = [];

  /** `pipes`: stdout and stderr, where they are not Node's. */
  constructor(
    started: ChildProcess,
    readonly pid: number,
    [stdout, stderr]: readonly Pipe[],
  ) {
    const sources = [stdout ?? (started.stdout as Socket), stderr ?? (started.stderr as Socket)];
    this.#stdin = started.stdin;
    this.#streams = sources.map((source) => new OutStream(source));
    if (stdout) this.#lookLater(0);
    // Once: Node keeps a `ChildProcess` until the next full collection, and with it what it leads to.
    started.once('exit', (code, signal) => this.#ended({ code, signal }));
  }

  /** Call it right after the start, so that no output is missed. */
  listen(to: Listener): void {
    const closed = () => this.#closed();
    this.#streams[0]!.connect((chunk) => to.stdout(chunk), closed);
    this.#streams[1]!.connect((chunk) => to.stderr(chunk), closed);
  }

  onExit(listener: (exit: Exit) => void): void {
    this.#onExit.push(listener);
  }

  /** The process and all that inherited its streams have closed them. */
  get isClosed(): boolean {
    return this.exit !== undefined && this.#streams.every((stream) => stream.isClosed);
  }

  onClose(listener: () => void): void {
    this.#onClose.push(listener);
  }

  closeStreams(): void {
    this.#stdin?.destroy();
    for (const stream of this.#streams) if (!stream.isClosed) stream.close();
  }

  /** A busy event loop runs timers before it reports exits: by then the process may have ended. */
  #lookLater(times: number): void {
    this.#timer = setTimeout(() => {
      setImmediate(() => {
        if (!this.exit) this.#look(times + 1);
      });
    }, LOOKS_MS[times]);
  }

  #look(times: number): void {
    const isLast = times === LOOKS_MS.length;
    for (const stream of this.#streams) if (isLast || stream.look()) stream.follow();
    if (!isLast) this.#lookLater(times);
  }

  /**
   * Node reports exits before it runs timers and signals. Starting the next short process from within such a report
   * could starve them, so listeners are called a turn later.
   */
  #ended(exit: Exit): void {
    this.exit = exit;
    clearTimeout(this.#timer);
    setImmediate(() => {
      for (const stream of this.#streams) stream.finish();
      for (const listener of this.#onExit) listener(exit);
      this.#closed();
    });
  }

  #closed(): void {
    if (!this.isClosed) return;
    for (const listener of this.#onClose) listener();
    this.#onClose = [];
  }
}
