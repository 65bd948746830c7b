import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere, temporaryName } from '../util/atomic-write.js';
import { hmacSha256Hex, sha256Hex } from '../util/digest.js';
import { FolderAccess } from './folder-access.js';
import type { StoreOptions } from './options.js';
import { SECRET } from './paths.js';

/**
 * Digests with a secret of this store, as `sealed:<store>:<digest>`: the name of the store shows that digests of two
 * stores cannot be compared.
 */
export class Seal {
  readonly #access: FolderAccess;
  readonly #signingKey: Buffer | string | undefined;
  #secret: string | undefined;
  #prefix = '';

  constructor(access: FolderAccess, signingKey: Buffer | string | undefined) {
    this.#access = access;
    this.#signingKey = signingKey;
  }

  seal(value: string): string {
    if (this.#secret === undefined) {
      this.#secret = this.#shared() ?? this.#load();
      this.#prefix = `sealed:${sha256Hex(`store ${this.#secret}`).slice(0, 8)}:`;
    }
    return this.#prefix + hmacSha256Hex(this.#secret, value).slice(0, 32);
  }

  /** Stores with the same signing key make the same seals, so that they can share results that depend on secrets. */
  #shared(): string | undefined {
    return this.#signingKey === undefined ? undefined : hmacSha256Hex(this.#signingKey, 'seals of secret values');
  }

  /** Where nothing can be written, a secret for this process will do: nothing that it seals is kept. */
  #load(): string {
    const path = join(this.#access.dir, SECRET);
    const known = readSecret(path);
    if (known !== undefined) return known;
    const fresh = randomBytes(32).toString('hex');
    if (this.#access.problem() !== undefined) return fresh;
    const temporary = temporaryName(path);
    try {
      writeFileSync(temporary, fresh, { mode: 0o600, flag: 'wx' });
      linkSync(temporary, path);
      return fresh;
    } catch {
      // Another process was quicker, and its secret counts; or nothing can be written, and ours lasts for this process.
      return readSecret(path) ?? fresh;
    } finally {
      removeIfThere(temporary);
    }
  }
}

/** The seal of a store's folder for a run that does not use the store. */
export function openSeal(options: Pick<StoreOptions, 'dir' | 'signingKey' | 'onWarning'>): (value: string) => string {
  const seal = new Seal(new FolderAccess(options), options.signingKey);
  return (value) => seal.seal(value);
}

function readSecret(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'latin1');
    return /^[0-9a-f]{64}$/.test(text) ? text : undefined;
  } catch {
    // Not made yet, or not readable.
    return undefined;
  }
}
