import type { Failure } from '../../model/failure.js';
import { TEXT_BYTES } from '../../model/limits.js';
import type { Output } from '../../model/output.js';
import { overflowFailure } from '../../process/end-failure.js';
import { formatBytes } from '../../util/format.js';
import { whyUnwritable } from '../../util/why-unwritable.js';
import { outputOfBytes } from './output.js';
import { StoredWriter } from './stored-writer.js';

interface SinkOptions {
  /** For the files of large outputs. */
  readonly folder: string;
  /** What one output may have. */
  readonly limit: number;
  /** What is larger goes into a file. */
  readonly inline: number;
  /** Spellings of secrets, which are not written to a file. */
  readonly secrets: readonly string[];
}

/**
 * Takes an output as it comes: in memory while it is small, then in a file. An output with a secret in it stays in
 * memory, and so does every output of a run whose folder cannot be written.
 */
export class OutputSink {
  readonly #options: SinkOptions;
  #chunks: Buffer[] = [];
  #inMemory = 0;
  #writer: StoredWriter | undefined;
  /** Why it stays in memory, however large. */
  #staysInMemory: string | undefined;
  /** The end of what came, not written yet: it may be the beginning of a secret. */
  #held = Buffer.alloc(0);
  readonly #longestSecret: number;

  constructor(options: SinkOptions) {
    this.#options = options;
    this.#longestSecret = Math.max(0, ...options.secrets.map((secret) => Buffer.byteLength(secret)));
  }

  /** A failure when it is too large, or cannot be written; nothing is left of it then. */
  add(chunk: Buffer): Failure | undefined {
    const failure = this.#writer ? this.#toFile(this.#writer, chunk) : this.#toMemory(chunk);
    if (failure) this.discard();
    return failure;
  }

  end(): Output | { readonly failure: Failure } {
    const writer = this.#writer;
    if (!writer) return outputOfBytes(Buffer.concat(this.#chunks));
    this.#writer = undefined;
    try {
      if (this.#held.length > 0) writer.write(this.#held);
      return writer.finish(this.#options.inline);
    } catch (error) {
      writer.discard();
      return { failure: unwritable(error) };
    }
  }

  discard(): void {
    this.#writer?.discard();
    this.#writer = undefined;
    this.#chunks = [];
    this.#inMemory = 0;
  }

  #toMemory(chunk: Buffer): Failure | undefined {
    this.#chunks.push(chunk);
    this.#inMemory += chunk.length;
    if (this.#inMemory > this.#options.limit) return overflowFailure(this.#options.limit);
    if (this.#inMemory <= this.#options.inline) return undefined;
    if (this.#staysInMemory !== undefined) {
      return this.#inMemory > TEXT_BYTES ? tooLargeForMemory(this.#staysInMemory) : undefined;
    }
    return this.#spill();
  }

  /** From now on it is in a file. */
  #spill(): Failure | undefined {
    const soFar = Buffer.concat(this.#chunks);
    if (this.#hasSecret(soFar)) return this.#stay('holds a secret argument, which is not written to a file');
    try {
      this.#writer = new StoredWriter(this.#options.folder);
    } catch (error) {
      return this.#stay(`cannot be written to the run's folder (${whyUnwritable(error)})`);
    }
    this.#chunks = [];
    this.#inMemory = 0;
    return this.#toFile(this.#writer, soFar);
  }

  #stay(why: string): Failure | undefined {
    this.#staysInMemory = why;
    return this.#inMemory > TEXT_BYTES ? tooLargeForMemory(why) : undefined;
  }

  #toFile(writer: StoredWriter, chunk: Buffer): Failure | undefined {
    if (writer.bytes + this.#held.length + chunk.length > this.#options.limit) {
      return overflowFailure(this.#options.limit);
    }
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    if (this.#hasSecret(bytes)) return this.#backToMemory(writer, bytes);
    const ready = Math.max(0, bytes.length - Math.max(0, this.#longestSecret - 1));
    this.#held = Buffer.from(bytes.subarray(ready));
    try {
      writer.write(bytes.subarray(0, ready));
      return undefined;
    } catch (error) {
      return unwritable(error);
    }
  }

  #backToMemory(writer: StoredWriter, rest: Buffer): Failure | undefined {
    const why = 'holds a secret argument, which is not written to a file';
    if (writer.bytes > TEXT_BYTES) return tooLargeForMemory(why);
    this.#writer = undefined;
    this.#held = Buffer.alloc(0);
    this.#chunks = [writer.takeBack(), rest];
    this.#inMemory = this.#chunks.reduce((sum, { length }) => sum + length, 0);
    return this.#stay(why);
  }

  #hasSecret(bytes: Buffer): boolean {
    return this.#options.secrets.some((secret) => bytes.includes(secret));
  }
}

function tooLargeForMemory(why: string): Failure {
  return {
    code: 'limit',
    message: `the output is larger than ${formatBytes(TEXT_BYTES)}, and ${why}`,
    hint: 'let it write to a file and name the file in `outputs`',
  };
}

function unwritable(error: unknown): Failure {
  return { code: 'io', message: `the output cannot be written to the run's folder: ${whyUnwritable(error)}` };
}
