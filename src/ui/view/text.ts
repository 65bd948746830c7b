import type { ShownText } from './types.js';

/** The most characters of one text that a page shows. */
const MOST = 16_000;
/** Each text may take one such part of what is left, so that the first ones cannot use up everything. */
const SHARE = 200;

/**
 * How much text a page may hold. It copies texts: a slice would keep the whole text in memory, and a journal may have a
 * hundred megabytes of them.
 */
export class TextBudget {
  #left: number;
  readonly #mask: (text: string) => string;

  constructor(characters: number, mask: (text: string) => string = (text) => text) {
    this.#left = characters;
    this.#mask = mask;
  }

  text(whole: string, length = whole.length): ShownText {
    const most = Math.min(MOST, Math.floor(this.#left / SHARE));
    // Masked before it is cut: a secret that is cut in two would not be found.
    const masked = this.#mask(whole.length > 2 * MOST ? whole.slice(0, 2 * MOST) : whole);
    const text = copy(masked.slice(0, most));
    this.#left -= text.length;
    return masked.length > most || length > whole.length || whole.length > 2 * MOST
      ? { text, chars: length }
      : { text };
  }

  /** For texts that the program itself makes. */
  short(text: string, most = 2_000): string {
    return copy(this.#mask(text).slice(0, most));
  }
}

/** Without a lone half of a character at the cut. */
function copy(text: string): string {
  return Buffer.from(text.replace(/[\ud800-\udbff]$/, '')).toString();
}
