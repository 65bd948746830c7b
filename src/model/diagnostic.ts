/** A problem in a file, with its place and what to do about it. Positions count from 1; `length` is in UTF-16 units. */
export interface Diagnostic {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly severity: 'error' | 'warning';
  /** Stable and kebab-case (`unknown-step`): programs match on it, messages may change. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}
