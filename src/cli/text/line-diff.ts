/** The lines of two short texts, in order: in both, only in the first (`-`) or only in the second (`+`). */
export function lineDiff(
  before: string,
  now: string,
): readonly { readonly mark: ' ' | '-' | '+'; readonly line: string }[] {
  const [a, b] = [before, now].map((text) => text.replace(/\n$/, '').split('\n')) as [string[], string[]];
  const common = commonLengths(a, b);
  const lines: { mark: ' ' | '-' | '+'; line: string }[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ mark: ' ', line: a[i]! });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push({ mark: '-', line: a[i]! });
      i += 1;
    } else {
      lines.push({ mark: '+', line: b[j]! });
      j += 1;
    }
  }
  return lines;
}

/** How many lines the rest of `a` from i on and of `b` from j on have in common. */
function commonLengths(a: readonly string[], b: readonly string[]): number[][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i]![j] = a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  return lengths;
}
