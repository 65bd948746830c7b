/** As much of either stream as explains a failure. */
export const TAIL_BYTES = 8 * 1024;

/** The last bytes of a stream, at a bounded cost however long it is. */
export class Tail {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > 4 * this.#limit) this.#shrink();
  }

  /** As text; a character that the cut went through is left out. */
  text(): string {
    this.#shrink();
    const bytes = this.#chunks[0];
    if (!bytes) return '';
    let start = 0;
    if (bytes.length === this.#limit) while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return bytes.toString('utf8', start);
  }

  #shrink(): void {
    if (this.#chunks.length === 0) return;
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    // A copy, so that a large chunk is not kept alive for its tail.
    const last = all.length > this.#limit ? Buffer.from(all.subarray(all.length - this.#limit)) : all;
    this.#chunks = [last];
    this.#length = last.length;
  }
}
