/**
 * Bytes that are kept twice, one after the other: if both are the same they are as they were written. Comparing is one
 * call of a few microseconds, where a sum over the bytes is a loop of milliseconds that no program has warmed up yet.
 * It says nothing about intent; what must not be forged has a digest or a MAC.
 */
export function twice(bytes: Buffer): readonly [Buffer, Buffer] {
  return [bytes, bytes];
}

/** What was kept; undefined when it is torn or garbled. */
export function once(kept: Buffer): Buffer | undefined {
  const length = kept.length / 2;
  if (length === 0 || !Number.isInteger(length)) return undefined;
  const bytes = kept.subarray(0, length);
  return bytes.equals(kept.subarray(length)) ? bytes : undefined;
}
