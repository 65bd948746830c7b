import { isUtf8 } from 'node:buffer';

/** An incomplete character has at most this many bytes. */
const LONGEST_BEGINNING = 3;

/** Whether bytes that come in pieces are UTF-8: a character may lie across two pieces. */
export class Utf8Check {
  #isUtf8 = true;
  #begun = Buffer.alloc(0);

  add(chunk: Buffer): void {
    if (!this.#isUtf8) return;
    const bytes = this.#begun.length === 0 ? chunk : Buffer.concat([this.#begun, chunk]);
    const whole = wholeCharacters(bytes);
    this.#isUtf8 = isUtf8(bytes.subarray(0, whole));
    // A copy, so that a large chunk is not kept alive for its end.
    this.#begun = Buffer.from(bytes.subarray(whole));
  }

  get holds(): boolean {
    return this.#isUtf8 && this.#begun.length === 0;
  }
}

/** How many bytes are left when a character whose end is missing is left out. */
export function wholeCharacters(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - LONGEST_BEGINNING);
  for (let at = bytes.length - 1; at >= first; at -= 1) {
    const byte = bytes[at]!;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return at + length > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}
