import type { Failure } from '../model/failure.js';
import { DEFAULT_LIMITS } from '../model/limits.js';
import type { Child } from './child.js';
import { overflowFailure } from './end-failure.js';
import type { ProcessRequest } from './process.js';
import { TAIL_BYTES, Tail } from './tail.js';

/** Passes the streams of a child on as they come, and keeps what the result needs of them. */
export class Capture {
  readonly #request: ProcessRequest;
  #stdout: Buffer[] = [];
  readonly #stderr = new Tail(TAIL_BYTES);
  #kept = 0;
  #received = 0;

  constructor(request: ProcessRequest) {
    this.#request = request;
  }

  listen(child: Child, on: { activity: () => void; stop: (failure: Failure) => void }): void {
    const { onStdout, onStderr, keepStdout } = this.#request;
    child.listen({
      stdout: (chunk) => {
        this.#received += chunk.length;
        on.activity();
        const wrong = keepStdout === false ? undefined : this.#keep(chunk);
        const failure = wrong ?? onStdout?.(chunk);
        if (failure) on.stop(failure);
      },
      stderr: (chunk) => {
        this.#received += chunk.length;
        on.activity();
        this.#stderr.add(chunk);
        onStderr?.(chunk);
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

  #keep(chunk: Buffer): Failure | undefined {
    const { maxStdoutBytes = DEFAULT_LIMITS.outputBytes } = this.#request;
    this.#kept += chunk.length;
    if (this.#kept <= maxStdoutBytes) {
      this.#stdout.push(chunk);
      return undefined;
    }
    this.#stdout = [];
    return overflowFailure(maxStdoutBytes);
  }
}
