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
 * Pauses between looks at what a process has said. Most short ones are over by the first, and whoever has filled a pipe
 * does not wait for long. After the last one what it says is passed on as it comes.
 */
const LOOKS_MS = [2, 4, 8] as const;

/** A process that has been started: its end, and what it says until then. */
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
    started.on('exit', (code, signal) => this.#ended({ code, signal }));
  }

  /** At once after the start, so that nothing is missed. */
  listen(to: Listener): void {
    const closed = () => this.#closed();
    this.#streams[0]!.connect((chunk) => to.stdout(chunk), closed);
    this.#streams[1]!.connect((chunk) => to.stderr(chunk), closed);
  }

  onExit(tell: (exit: Exit) => void): void {
    this.#onExit.push(tell);
  }

  /** It has ended, and so has everybody to whom it left its streams. */
  get isClosed(): boolean {
    return this.exit !== undefined && this.#streams.every((stream) => stream.isClosed);
  }

  onClose(tell: () => void): void {
    this.#onClose.push(tell);
  }

  closeStreams(): void {
    this.#stdin?.destroy();
    for (const stream of this.#streams) if (!stream.isClosed) stream.close();
  }

  /** A busy event loop runs timers before it hears of ends: what is over by now need not be looked at. */
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
   * Node reports ends as long as there are any, before it looks at timers and signals: whoever started the next process
   * from within that report would keep it there for as long as processes are short. So others hear of it a turn later.
   */
  #ended(exit: Exit): void {
    this.exit = exit;
    clearTimeout(this.#timer);
    setImmediate(() => {
      for (const stream of this.#streams) stream.finish();
      for (const tell of this.#onExit) tell(exit);
      this.#closed();
    });
  }

  #closed(): void {
    if (!this.isClosed) return;
    for (const tell of this.#onClose) tell();
    this.#onClose = [];
  }
}
