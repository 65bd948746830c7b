/** The part of a stat that shows whether a file's content changed. */
export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
}

/** File systems round times (by up to 2 seconds), so two contents that follow each other quickly may have one stamp. */
const SAFE_MARGIN_MS = 2_500;

/** Whether the file was last changed so long before `time` that its stamp belongs to one content only. */
export function leftAloneBefore(mtimeMs: number, ctimeMs: number, time: number): boolean {
  return Math.max(mtimeMs, ctimeMs) + SAFE_MARGIN_MS < time;
}

export function haveSameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.ctimeMs === b.ctimeMs && a.mtimeMs === b.mtimeMs && a.size === b.size && a.ino === b.ino;
}
