import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { sha256Hex } from '../util/digest.js';
import { rawPublicKey, SPKI_HEAD } from './public-key.js';

/** A signed text begins with its purpose, so that a signature of one kind never passes for another. */
export type Purpose = 'shared entry' | 'shared lease' | 'job' | 'answer';
const forPurpose = (purpose: Purpose, text: Buffer) => Buffer.concat([Buffer.from(`taskflow ${purpose} 1\n`), text]);
const SIGNATURE = /^ed25519 ([0-9a-f]{16}) ([A-Za-z0-9+/]{86}==)$/;

/** Makes a signature line: `ed25519 KEY SIGNATURE`. */
export interface Signer {
  readonly keyId: string;
  sign(text: Buffer, purpose: Purpose): string;
}

/** Whose signatures are accepted. */
export interface Trust {
  /** By the id that a signature names. */
  readonly keys: ReadonlyMap<string, { readonly name: string; readonly key: KeyObject }>;
  /** Accepts entries without a signature. */
  readonly isOff: boolean;
}

export function openTrust({ mode, keys = {} }: { mode?: 'none'; keys?: Readonly<Record<string, string>> } = {}): Trust {
  const known = Object.entries(keys).flatMap(([name, text]) => {
    const raw = rawPublicKey(text);
    return raw ? [[keyId(raw), { name, key: publicKeyOf(raw) }] as const] : [];
  });
  return { keys: new Map(known), isOff: mode === 'none' };
}

interface Signed {
  readonly purpose: Purpose;
  readonly text: Buffer;
  /** The signature line. */
  readonly line: string;
}

/** Why the text is not trusted; undefined when it is. */
export function distrust({ keys, isOff }: Trust, { purpose, text, line }: Signed): string | undefined {
  if (isOff) return undefined;
  const [, id, signature] = SIGNATURE.exec(line) ?? [];
  if (id === undefined) return `${purpose} is not signed`;
  const trusted = keys.get(id);
  if (!trusted) return `${purpose} signed by an untrusted key ${id.slice(0, 4)}…`;
  const isRight = verify(null, forPurpose(purpose, text), trusted.key, Buffer.from(signature!, 'base64'));
  return isRight ? undefined : `${purpose} has a wrong signature (key ${trusted.name})`;
}

/** From an Ed25519 private key as PEM. */
export function openSigner(pem: string | Buffer): Signer | undefined {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType !== 'ed25519') return undefined;
    const id = keyId(rawOf(createPublicKey(key)));
    const line = (signature: Buffer) => `ed25519 ${id} ${signature.toString('base64')}`;
    return { keyId: id, sign: (text, purpose) => line(sign(null, forPurpose(purpose, text), key)) };
  } catch {
    // No key at all.
    return undefined;
  }
}

export function newKeyPair(): { readonly privateKey: string; readonly publicKey: string; readonly keyId: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = rawOf(publicKey);
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    publicKey: raw.toString('base64'),
    keyId: keyId(raw),
  };
}

/** The beginning of the digest of a public key: what a signature names it by. */
export function keyId(raw: Buffer): string {
  return sha256Hex(raw).slice(0, 16);
}

function rawOf(key: KeyObject): Buffer {
  return (key.export({ type: 'spki', format: 'der' }) as Buffer).subarray(SPKI_HEAD.length);
}

function publicKeyOf(raw: Buffer): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_HEAD, raw]), format: 'der', type: 'spki' });
}
