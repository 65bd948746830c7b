/** A file's text and how to name a place in it. */
export class Source {
  #lineStarts: readonly number[] | undefined;

  constructor(
    /** The path for messages: relative to the project root if it is inside. */
    readonly file: string,
    readonly text: string,
  ) {}

  /** Line and column of an offset, both from 1; a column counts UTF-16 units. */
  position(offset: number): { readonly line: number; readonly column: number } {
    const starts = this.#starts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - starts[low]! + 1 };
  }

  /** Without its line break. Undefined past the end. */
  line(number: number): string | undefined {
    const starts = this.#starts();
    const start = starts[number - 1];
    if (start === undefined) return undefined;
    const end = starts[number] ?? this.text.length + 1;
    return this.text.slice(start, end - 1).replace(/\r$/, '');
  }

  #starts(): readonly number[] {
    if (this.#lineStarts) return this.#lineStarts;
    const starts = [0];
    for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.#lineStarts = starts;
    return starts;
  }
}
