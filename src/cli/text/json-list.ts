import type { Writer } from '../boot/command.js';

const PIECE = 64 * 1024;

/** Writes a JSON list piece by piece, so that a million entries are never one string. */
export class JsonList {
  readonly #out: Pick<Writer, 'write'>;
  #text: string;
  #isEmpty = true;

  constructor(out: Pick<Writer, 'write'>, before = '[') {
    this.#out = out;
    this.#text = before;
  }

  /** `text`: JSON. */
  add(text: string): void {
    this.#text += this.#isEmpty ? text : `,${text}`;
    this.#isEmpty = false;
    if (this.#text.length < PIECE) return;
    this.#out.write(this.#text);
    this.#text = '';
  }

  end(after = ']'): void {
    this.#out.write(`${this.#text}${after}\n`);
  }
}
