import { timingSafeEqual } from 'node:crypto';
import { hmacSha256Hex } from '../util/digest.js';

const MAC = ',"mac":"';
/** Length of what `withMac` puts in the place of the last bracket. */
export const MAC_LENGTH = MAC.length + 64 + 2;

/** Adds a MAC to a JSON text as its last member, where there is a key. `what` distinguishes kinds of files. */
export function withMac(what: string, text: string, key: Buffer | string | undefined): string {
  if (key === undefined) return text;
  const body = text.slice(0, -1);
  return `${body}${MAC}${hmacSha256Hex(key, `${what}\n${body}`)}"}`;
}

/** Whether the text carries a valid MAC; always true where there is no key. */
export function hasMac(what: string, text: string, key: Buffer | string | undefined): boolean {
  if (key === undefined) return true;
  const at = text.length - MAC_LENGTH;
  if (at <= 0 || !text.startsWith(MAC, at)) return false;
  return isSameText(text.slice(at + MAC.length, -2), hmacSha256Hex(key, `${what}\n${text.slice(0, at)}`));
}

/** Compares in constant time. */
export function isSameText(found: string, expected: string): boolean {
  const [a, b] = [Buffer.from(found, 'latin1'), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
