import type { ChildProcess } from 'node:child_process';
import type { ProcessRequest } from './process.js';
import { TAIL_BYTES, Tail } from './tail.js';

/** Text of more than this cannot be held in one string. */
const MAX_STDOUT_BYTES = 512 * 1024 * 1024;

/** Feeds a child its stdin, passes its streams on as they come, and keeps what the result needs of them. */
export class Capture {
  readonly #request: ProcessRequest;
  readonly #stdout: Buffer[] = [];
  readonly #stderr = new Tail(TAIL_BYTES);
  #kept = 0;
  #received = 0;

  constructor(request: ProcessRequest) {
    this.#request = request;
  }

  connect(child: ChildProcess, on: { activity: () => void; overflow: (limit: number) => void }): void {
    const { input, onStdout, onStderr, keepStdout } = this.#request;
    child.stdout?.on('data', (chunk: Buffer) => {
      this.#received += chunk.length;
      on.activity();
      if (keepStdout !== false) this.#keep(chunk, on.overflow);
      onStdout?.(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#received += chunk.length;
      on.activity();
      this.#stderr.add(chunk);
      onStderr?.(chunk);
    });
    // Node's pipes go both ways: left alone, each would be ended in the other direction too before it is closed.
    child.stdout?.on('end', destroy);
    child.stderr?.on('end', destroy);
    if (child.stdin) {
      // EPIPE, ECONNRESET: a program need not read what it is given.
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    }
  }

  /** How many bytes have come, from both streams. */
  get received(): number {
    return this.#received;
  }

  stdout(): Buffer {
    return this.#stdout.length === 1 ? this.#stdout[0]! : Buffer.concat(this.#stdout);
  }

  stderrTail(): string {
    return this.#stderr.text();
  }

  #keep(chunk: Buffer, overflow: (limit: number) => void): void {
    const { maxStdoutBytes = MAX_STDOUT_BYTES } = this.#request;
    this.#kept += chunk.length;
    if (this.#kept > maxStdoutBytes) overflow(maxStdoutBytes);
    else this.#stdout.push(chunk);
  }
}

function destroy(this: { destroy(): unknown }): void {
  this.destroy();
}
