import { readFileSync } from 'node:fs';
import { sha256Hex } from '../../src/util/digest.js';

/** A kept file (the digest of its text, then the text) as somebody who knows its form would forge it. */
export function forgedKept(path: string, from: string, to: string): string {
  const bytes = readFileSync(path, 'utf8');
  const text = bytes.slice(bytes.indexOf('\n') + 1).replaceAll(from, to);
  return `${sha256Hex(text)}\n${text}`;
}
