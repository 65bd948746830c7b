/** An entry's mtime is its last use, and exact enough if it is set this often. */
export const TOUCH_AFTER_MS = 3_600_000;
