import { randomBytes, timingSafeEqual } from 'node:crypto';
import { sha256Hex } from '../../util/digest.js';

/** Browsers at once. One more ends the oldest session. */
const MOST = 16;

/** Result of a token: a new session, this browser's own again, or used by another browser, whose session ends. */
type Exchange = { readonly cookie: string } | 'again' | 'stolen' | 'wrong';

interface Known {
  readonly token: Buffer;
  readonly cookie: Buffer;
}

/**
 * The browsers that are let in. An address holds a token, which is exchanged once for a cookie that no script can read,
 * so an address found later in a history or a list of processes is useless. If two browsers come with the same token,
 * it was stolen before its use: then neither is let in.
 */
export class Sessions {
  readonly #name: string;
  #token = newSecret();
  #known: readonly Known[] = [];

  /** Cookies ignore the port: two servers on one machine must not overwrite each other's. */
  constructor(port: number) {
    this.#name = `taskflow-${port}`;
  }

  get token(): string {
    return this.#token;
  }

  exchange(token: string, cookies: string | undefined): Exchange {
    const digest = digestOf(token);
    if (timingSafeEqual(digest, digestOf(this.#token))) {
      this.#token = newSecret();
      const secret = newSecret();
      this.#known = [...this.#known, { token: digest, cookie: digestOf(secret) }].slice(-MOST);
      return { cookie: `${this.#name}=${secret}; Path=/; HttpOnly; SameSite=Strict` };
    }
    if (this.knows(cookies)) return 'again';
    const others = this.#known.filter((known) => !timingSafeEqual(known.token, digest));
    const isStolen = others.length < this.#known.length;
    this.#known = others;
    return isStolen ? 'stolen' : 'wrong';
  }

  knows(cookies: string | undefined): boolean {
    const pair = (cookies ?? '').split(/; */).find((part) => part.startsWith(`${this.#name}=`));
    if (pair === undefined) return false;
    const digest = digestOf(pair.slice(this.#name.length + 1));
    return this.#known.filter(({ cookie }) => timingSafeEqual(cookie, digest)).length > 0;
  }
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Makes texts of any length comparable in constant time. */
function digestOf(text: string): Buffer {
  return Buffer.from(sha256Hex(text), 'hex');
}
