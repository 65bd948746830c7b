import { Socket } from 'node:net';
import { giveBack, PIPE_BYTES, type Pipe } from './pipes.js';

/** One of the two streams on which a process speaks, until the last one who holds it has let go of it. */
export class OutStream {
  #pipe: Pipe | undefined;
  #socket: Socket | undefined;
  #tell: (chunk: Buffer) => void = () => {};
  #tellClosed: () => void = () => {};
  isClosed = false;

  /** A socket is one that Node made. */
  constructor(source: Pipe | Socket) {
    if (source instanceof Socket) this.#socket = source;
    else this.#pipe = source;
  }

  connect(tell: (chunk: Buffer) => void, closed: () => void): void {
    this.#tell = tell;
    this.#tellClosed = closed;
    if (this.#socket) this.#attach(this.#socket);
  }

  /** Passes on what is there. True when the pipe was full: whoever has filled it waits until it is read. */
  look(): boolean {
    return this.#pipe?.read(this.#tell) === PIPE_BYTES;
  }

  /** From now on chunks are passed on as they come. */
  follow(): void {
    if (!this.#pipe) return;
    // It may be held by someone for good, so it is not used again.
    this.#attach(new Socket({ fd: this.#pipe.file, readable: true, writable: false }));
    this.#pipe = undefined;
  }

  /** The process has ended: all that it said is there. Whoever else holds the stream is followed. */
  finish(): void {
    if (!this.#pipe) return;
    if (this.#pipe.readToEnd(this.#tell)) {
      giveBack(this.#pipe);
      this.#pipe = undefined;
      this.isClosed = true;
    } else {
      this.follow();
    }
  }

  /** Whoever still holds it speaks to nobody. */
  close(): void {
    this.follow();
    this.#socket?.destroy();
  }

  #attach(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', this.#tell);
    // A pipe of Node's goes both ways: left alone, it would be ended in the other direction too before it is closed.
    socket.on('end', () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.isClosed = true;
      this.#tellClosed();
    });
  }
}
