import type { JsonObject } from '../model/json.js';
import { sha256Hex } from '../util/digest.js';
import { decodeActionResult, encodeActionResult } from './action-result.js';
import type { Item } from './protocol.js';
import type { Upload } from './remote.js';
import { distrust, type Signer, type Trust } from './trust.js';

/** The content of a lease, an object beside the entries and signed like them: no one waits for an untrusted lease. */
export interface LeaseText {
  readonly key: string;
  /** Unique per lease. */
  readonly id: string;
  /** The machine or job, for messages. */
  readonly by: string;
  /** Counts renewals, so that others see the object change, whatever their clocks say. */
  readonly beat: number;
  readonly isReleased: boolean;
}

/** A name that no entry has: a key is never the digest of such a text. */
export function leaseItem(key: string): Item {
  return { kind: 'ac', name: sha256Hex(`taskflow lease ${key}`) };
}

export function encodeLease(lease: LeaseText, signer: Signer): Upload & { readonly data: Buffer } {
  const stdout = Buffer.from(JSON.stringify(lease));
  const stderr = Buffer.from(signer.sign(stdout, 'shared lease'));
  const data = encodeActionResult({ stdout, stderr, files: [] });
  return { data, digest: sha256Hex(data) };
}

/** Undefined for anything but a lease of this key with a trusted signature. */
export function decodeLease(body: Buffer, key: string, trust: Trust): LeaseText | undefined {
  const { stdout: text, stderr } = decodeActionResult(body) ?? {};
  if (!text || !stderr || distrust(trust, { purpose: 'shared lease', text, line: String(stderr) }) !== undefined)
    return undefined;
  try {
    const { key: of, id, by, beat, isReleased } = JSON.parse(String(text)) as JsonObject;
    if (of !== key || typeof id !== 'string' || typeof by !== 'string' || typeof beat !== 'number') return undefined;
    return { key, id, by, beat, isReleased: isReleased === true };
  } catch {
    // With `trust: none` anything may be there.
    return undefined;
  }
}
