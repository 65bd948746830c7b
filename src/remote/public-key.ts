/** What stands before the 32 bytes of an Ed25519 public key in its usual binary form (SPKI). */
export const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** The 32 bytes of a public key: in base64 as they are, or in their usual binary form. */
export function rawPublicKey(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 32) return bytes;
  const isWrapped = bytes.length === SPKI_HEAD.length + 32 && bytes.subarray(0, SPKI_HEAD.length).equals(SPKI_HEAD);
  return isWrapped ? bytes.subarray(SPKI_HEAD.length) : undefined;
}

export function isPublicKey(text: string): boolean {
  return rawPublicKey(text) !== undefined;
}
