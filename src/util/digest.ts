import type * as Crypto from 'node:crypto';

let loaded: typeof Crypto | undefined;

/** Loaded on demand: Node takes milliseconds to load its cryptography, which `--version` does not need. */
function crypto(): typeof Crypto {
  loaded ??= process.getBuiltinModule('node:crypto');
  return loaded;
}

/**
 * The one digest function: full SHA-256, lower-case hex. Text is hashed as UTF-8, in which unpaired surrogates all look
 * alike; text from outside goes through the canonical encoder first, which keeps them apart.
 */
export function sha256Hex(data: string | Buffer): string {
  // Half the price of a hash object for the short texts that keys are made of.
  return crypto().hash('sha256', data, 'hex');
}

/** A digest that is fed piece by piece, for files of any size. */
export interface DigestStream {
  update(chunk: Buffer): void;
  /** A second one that begins where this one is now. */
  copy(): DigestStream;
  hex(): string;
}

export function sha256Stream(): DigestStream {
  return streamOf(crypto().createHash('sha256'));
}

function streamOf(hash: Crypto.Hash): DigestStream {
  return {
    update: (chunk) => {
      hash.update(chunk);
    },
    copy: () => streamOf(hash.copy()),
    hex: () => hash.digest('hex'),
  };
}

/** Digest keyed with a secret: equal values have equal digests, and nobody without the secret can try values out. */
export function hmacSha256Hex(secret: string | Buffer, data: string | Buffer): string {
  return crypto().createHmac('sha256', secret).update(data).digest('hex');
}

/** The same, fed piece by piece. */
export function hmacSha256Stream(secret: string | Buffer): { update(chunk: string | Buffer): void; hex(): string } {
  const hash = crypto().createHmac('sha256', secret);
  return {
    update: (chunk) => {
      hash.update(chunk);
    },
    hex: () => hash.digest('hex'),
  };
}

export function randomHex(bytes: number): string {
  return crypto().randomBytes(bytes).toString('hex');
}
