/** Whether `a` is `b` with one typing slip: a letter too many, too few or wrong, two swapped, or other case. */
export function isSlip(a: string, b: string): boolean {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()];
  if (x === y) return a !== b;
  if (Math.abs(x.length - y.length) > 1) return false;
  if (swappedLetters(x, y)) return true;
  let start = 0;
  while (start < x.length && x[start] === y[start]) start += 1;
  let end = 0;
  const most = Math.min(x.length, y.length) - start;
  while (end < most && x.at(-1 - end) === y.at(-1 - end)) end += 1;
  return Math.max(x.length, y.length) - start - end <= 1;
}

/** The commonest slip (`scna` for `scan`) counts as one mistake, not as two edits. */
export function swappedLetters(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  const at = [...a].findIndex((letter, index) => letter !== b[index]);
  return at !== -1 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}
