import type { JsonObject } from '../model/json.js';
import { sha256Hex } from '../util/digest.js';
import { decodeActionResult, encodeActionResult } from './action-result.js';
import type { Item } from './protocol.js';
import type { Upload } from './remote.js';
import { distrust, type Signer, type Trust } from './trust.js';

/** What a lease says. It is an object beside the entries, signed like them: a stranger's makes nobody wait. */
export interface LeaseText {
  readonly key: string;
  /** No two leases have the same. */
  readonly id: string;
  /** For people. */
  readonly by: string;
  /** Counts the signs of life: others see that the object has changed, whatever their clocks say. */
  readonly beat: number;
  readonly isReleased: boolean;
}

/** No entry has this name: its key would have to be the digest of such a text. */
export function leaseItem(key: string): Item {
  return { kind: 'ac', name: sha256Hex(`taskflow lease ${key}`) };
}

export function encodeLease(lease: LeaseText, signer: Signer): Upload & { readonly data: Buffer } {
  const stdout = Buffer.from(JSON.stringify(lease));
  const stderr = Buffer.from(signer.sign(stdout, 'shared lease'));
  const data = encodeActionResult({ stdout, stderr, files: [] });
  return { data, digest: sha256Hex(data) };
}

/** Undefined for bytes that are no lease of this key by somebody who is trusted. */
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
