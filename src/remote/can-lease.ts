import { sha256Hex } from '../util/digest.js';
import { encodeActionResult } from './action-result.js';
import { leaseItem } from './lease-object.js';
import type { Remote, Written } from './remote.js';

const PROBE = encodeActionResult({ stdout: Buffer.from('taskflow probe'), stderr: Buffer.alloc(0), files: [] });

/**
 * Whether the server lets only the first of two create an object: a server that overwrites would give both the lease.
 * The probe object stays there, so that usually one request is enough.
 */
export async function canLease(
  remote: Remote,
  signal?: AbortSignal,
): Promise<{ readonly can: boolean } | Exclude<Written, { written: true } | { taken: true }>> {
  const upload = { data: PROBE, digest: sha256Hex(PROBE) };
  for (const _ of ['first', 'second']) {
    const put = await remote.putIf(leaseItem('probe'), { upload, condition: { absent: true }, signal });
    if ('taken' in put) return { can: true };
    // Some servers refuse the condition itself.
    if ('isServers' in put) return { can: false };
    if (!('written' in put)) return put;
  }
  return { can: false };
}
