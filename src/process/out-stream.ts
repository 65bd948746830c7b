import { Socket } from 'node:net';
import { giveBack, giveBackOpen, PIPE_BYTES, type Pipe } from './pipes.js';

/** Stdout or stderr of a process, until the last holder has closed it. */
export class OutStream {
  #pipe: Pipe | undefined;
  #socket: Socket | undefined;
  #onChunk: (chunk: Buffer) => void = () => {};
  #onClosed: () => void = () => {};
  isClosed = false;

  /** A socket is one that Node made. */
  constructor(source: Pipe | Socket) {
    if (source instanceof Socket) this.#socket = source;
    else this.#pipe = source;
  }

  connect(onChunk: (chunk: Buffer) => void, closed: () => void): void {
    this.#onChunk = onChunk;
    this.#onClosed = closed;
    if (this.#socket) this.#attach(this.#socket);
  }

  /** Passes on what the pipe holds. True when it was full: its writer waits until it is read. */
  look(): boolean {
    return this.#pipe?.read(this.#onChunk) === PIPE_BYTES;
  }

  /** Passes chunks on as they come, from now on. */
  follow(): void {
    const pipe = this.#pipe;
    if (!pipe) return;
    this.#pipe = undefined;
    const socket = new Socket({ fd: pipe.file, readable: true, writable: false });
    // Only a pipe that ended is used again: another may be held open for good.
    socket.on('end', () => giveBackOpen(pipe));
    this.#attach(socket);
  }

  /** After the end of the process: reads all its output, and goes on with a stream that others still hold open. */
  finish(): void {
    if (!this.#pipe) return;
    if (this.#pipe.readToEnd(this.#onChunk)) {
      giveBack(this.#pipe);
      this.#pipe = undefined;
      this.isClosed = true;
    } else {
      this.follow();
    }
  }

  /** Stops reading, although others may still hold the stream open. */
  close(): void {
    this.follow();
    this.#socket?.destroy();
  }

  #attach(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', this.#onChunk);
    // Node's own pipe is a two-way socket, which would be ended in the other direction, too, before it is closed.
    socket.on('end', () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.isClosed = true;
      this.#onClosed();
    });
  }
}
