/** Masks a text that comes in pieces: what may be the beginning of a secret is held back until it is known. */
export class SecretStream {
  #held = '';

  constructor(private readonly secrets: { readonly values: readonly string[]; maskWhole(text: string): string }) {}

  /** What may be shown by now. */
  push(piece: string): string {
    const text = this.secrets.maskWhole(this.#held + piece);
    const held = Math.max(0, ...this.secrets.values.map((value) => beginningAtEnd(text, value)));
    this.#held = text.slice(text.length - held);
    return text.slice(0, text.length - held);
  }

  /** The rest: nothing comes any more. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }
}

/** How many characters at the end of the text are the first ones of the value. */
function beginningAtEnd(text: string, value: string): number {
  const first = value[0]!;
  const from = Math.max(0, text.length - value.length + 1);
  for (let at = text.indexOf(first, from); at !== -1; at = text.indexOf(first, at + 1)) {
    if (value.startsWith(text.slice(at))) return text.length - at;
  }
  return 0;
}
