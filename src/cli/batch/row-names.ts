/** A row with the names that people use. */
export interface NamedRow {
  /** From 1. */
  readonly row: number;
  readonly label: string;
  /** The prefix of its phases: `rows/<digest of its arguments>`. */
  readonly path: string;
}

/** The parts of `rows/<place>/phase…`; undefined for anything else. */
export function splitRowPath(path: string): { readonly row: string; readonly phase: string } | undefined {
  const end = path.startsWith('rows/') ? path.indexOf('/', 5) : -1;
  return end === -1 ? undefined : { row: path.slice(0, end), phase: path.slice(end + 1) };
}

/** Phases of a batch are recorded under a digest of their row; people use its number and label. */
export class RowNames {
  readonly #byPath: ReadonlyMap<string, NamedRow>;

  constructor(rows: readonly NamedRow[]) {
    this.#byPath = new Map(rows.map((row) => [row.path, row]));
  }

  /** Undefined for a phase that is in no row, and for a row of which only the digest is known. */
  find(path: string): { readonly row: NamedRow; readonly phase: string } | undefined {
    const split = splitRowPath(path);
    const row = split && this.#byPath.get(split.row);
    return row && { row, phase: split.phase };
  }

  /** `3/review`: short, and understood by `approve`, `reject` and `trace`. */
  short(path: string): string {
    const found = this.find(path);
    return found ? `${found.row.row}/${found.phase}` : path;
  }

  /**
   * Whether the typed text means this phase: its path, `review` in every row, `3` or `3/review`, `sea level` or `sea
   * level/review`.
   */
  fits(path: string, typed: string): boolean {
    const found = this.find(path);
    const names = [path];
    if (found) names.push(found.phase, this.short(path), `${found.row.label}/${found.phase}`);
    return names.some((name) => name === typed || name.startsWith(`${typed}/`));
  }
}
