const UNITS: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** Bytes of `500MB`, `1.5 GiB`, `200k` or a plain number; undefined when the text is no size. 1 KB is 1,024 bytes. */
export function parseSize(value: string | number): number | undefined {
  const match = /^(\d+(?:\.\d+)?) ?(?:([kmgt])i?b?|b)?$/i.exec(String(value).trim());
  if (!match) return undefined;
  const bytes = Math.round(Number(match[1]) * UNITS[(match[2] ?? 'b').toLowerCase()]!);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
