/** What a stat says of a file, as far as it tells one content from another. */
export interface FileFigures {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
}

/**
 * Time stamps move in ticks (up to 2 seconds on some file systems), and a file may change twice within one. Its figures
 * stand for its content only if it had been left alone for longer than that when it was read.
 */
const SAFE_MARGIN_MS = 2_500;

/** Whether these times were old enough at that time that no later content can have them too. */
export function leftAloneBefore(mtimeMs: number, ctimeMs: number, time: number): boolean {
  return Math.max(mtimeMs, ctimeMs) + SAFE_MARGIN_MS < time;
}

export function haveSameFigures(a: FileFigures, b: FileFigures): boolean {
  return a.ctimeMs === b.ctimeMs && a.mtimeMs === b.mtimeMs && a.size === b.size && a.ino === b.ino;
}
