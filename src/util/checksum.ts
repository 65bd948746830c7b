/**
 * A quick sum that tells a whole file from a torn or garbled one: a millisecond for two megabytes, where a digest takes
 * eight. It says nothing about intent; what must not be forged has a digest or a MAC.
 */
export function checksum(bytes: Buffer): number {
  const whole = bytes.length >>> 2;
  // Words cannot be read from just any place, so a copy is made where the bytes do not begin at one.
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(Uint8Array.from(bytes).buffer);
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, whole);
  let sum = 0x811c9dc5 ^ bytes.length;
  for (let i = 0; i < whole; i++) sum = Math.imul(sum ^ words[i]!, 0x01000193) ^ (sum >>> 15);
  for (let i = whole * 4; i < bytes.length; i++) sum = Math.imul(sum ^ bytes[i]!, 0x01000193);
  return sum >>> 0;
}
