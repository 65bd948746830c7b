import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere, temporaryName } from '../util/atomic-write.js';
import { hmacSha256Hex, sha256Hex } from '../util/digest.js';
import type { FolderAccess } from './folder-access.js';
import { SECRET } from './paths.js';

/**
 * Digests with a secret of this store. `sealed:<store>:<digest>`: digests of two stores cannot be compared, and whoever
 * tries has to see that.
 */
export class Seal {
  readonly #access: FolderAccess;
  #secret: string | undefined;
  #prefix = '';

  constructor(access: FolderAccess) {
    this.#access = access;
  }

  seal(value: string): string {
    if (this.#secret === undefined) {
      this.#secret = this.#load();
      this.#prefix = `sealed:${sha256Hex(`store ${this.#secret}`).slice(0, 8)}:`;
    }
    return this.#prefix + hmacSha256Hex(this.#secret, value).slice(0, 32);
  }

  /** Where nothing can be written, a secret for this process alone does: nothing that it seals is kept. */
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
      // Another process was quicker, and its secret counts; or there is no writing, and ours lasts as long as we do.
      return readSecret(path) ?? fresh;
    } finally {
      removeIfThere(temporary);
    }
  }
}

function readSecret(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'latin1');
    return /^[0-9a-f]{64}$/.test(text) ? text : undefined;
  } catch {
    // Not made yet, or not ours to read.
    return undefined;
  }
}
