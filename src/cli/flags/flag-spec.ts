/** One flag of a command. */
export interface FlagSpec {
  /** Without the dashes: `dry-run`. */
  readonly name: string;
  /** One letter: `-n`. */
  readonly alias?: string;
  /** `list`: may be given several times. `duration`: `90s`, `5m` …, read as milliseconds. */
  readonly type: 'boolean' | 'string' | 'number' | 'duration' | 'list';
  /** Placeholder of the value in help texts: `FILE`. */
  readonly value?: string;
  readonly help: string;
  /** Only these values are accepted. */
  readonly choices?: readonly string[];
  /** The flag may be alone; what follows is its value only if it looks like this. */
  readonly optionalValue?: RegExp;
  /** A looser form of `optionalValue` after the first positional argument: before it, the word may be that argument. */
  readonly laterValue?: RegExp;
  /** Not shown in help texts. */
  readonly hidden?: boolean;
}

/** For `optionalValue`: only what follows a `=` is its value. */
export const ONLY_INLINE = /^(?!)/;
