import type { Child } from './child.js';
import type { ProcessRequest } from './process.js';
import { TAIL_BYTES, Tail } from './tail.js';

/** Text of more than this cannot be held in one string. */
const MAX_STDOUT_BYTES = 512 * 1024 * 1024;

/** Passes the streams of a child on as they come, and keeps what the result needs of them. */
export class Capture {
  readonly #request: ProcessRequest;
  readonly #stdout: Buffer[] = [];
  readonly #stderr = new Tail(TAIL_BYTES);
  #kept = 0;
  #received = 0;

  constructor(request: ProcessRequest) {
    this.#request = request;
  }

  listen(child: Child, on: { activity: () => void; overflow: (limit: number) => void }): void {
    const { onStdout, keepStdout } = this.#request;
    child.listen({
      stdout: (chunk) => {
        this.#received += chunk.length;
        on.activity();
        if (keepStdout !== false) this.#keep(chunk, on.overflow);
        onStdout?.(chunk);
      },
      stderr: (chunk) => {
        this.#received += chunk.length;
        on.activity();
        this.#stderr.add(chunk);
      },
    });
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
