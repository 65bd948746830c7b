import { blobsOf } from '../store/entry-blobs.js';
import { decodeEntry, encodeRest } from '../store/entry-format.js';
import type { CheckOptions } from '../store/options.js';
import { problemOfFiles } from '../store/output-path.js';
import { ageProblem } from '../store/read-entry.js';
import type { Entry, GetOptions } from '../store/store.js';
import { decodeActionResult, encodeActionResult } from './action-result.js';
import { distrust, type Signer, type Trust } from './trust.js';

/** Replaces the holder, which is private to the entry's own store. */
const HEAD = '{"shared":1';

/** The body of an entry on a server. `sizeOf`: of each blob. The signature covers all of the entry's text. */
export function encodeShared(entry: Entry, signer: Signer | undefined, sizeOf: (digest: string) => number): Buffer {
  const stdout = Buffer.from(HEAD + encodeRest(HEAD, entry, undefined));
  const names = new Map(entry.files.map(({ digest, path }) => [digest, path]));
  const digests = [...new Set(blobsOf(entry))];
  return encodeActionResult({
    stdout,
    stderr: Buffer.from(signer?.sign(stdout, 'shared entry') ?? ''),
    files: digests.map((digest) => ({ path: names.get(digest) ?? OUTPUT, digest, bytes: sizeOf(digest) })),
  });
}

/** The name of a large output among the files. */
const OUTPUT = 'taskflow-output';

export interface Expected extends Pick<GetOptions, 'ttlMs' | 'now'>, CheckOptions {
  readonly key: string;
  readonly trust: Trust;
}

/** The entry, if it may be used for this key now. `sizes` come from the server and are only hints. */
export function decodeShared(
  body: Buffer,
  { key, trust, recomputeKey, now, ttlMs }: Expected,
): { readonly entry: Entry; readonly sizes: ReadonlyMap<string, number> } | { readonly miss: string } {
  const result = decodeActionResult(body);
  if (!result || result.stdout.length === 0) return { miss: 'shared entry is damaged (no entry in it)' };
  const refused = distrust(trust, {
    purpose: 'shared entry',
    text: result.stdout,
    line: result.stderr.toString('latin1'),
  });
  if (refused !== undefined) return { miss: refused };
  const decoded = decodeEntry(result.stdout.toString('utf8'), key, undefined);
  if ('miss' in decoded) return { miss: inShared(decoded.miss.reason) };
  const { entry } = decoded;
  const ofIdentity = recomputeKey?.(entry.identity);
  if (ofIdentity !== undefined && ofIdentity !== key) return { miss: 'shared entry belongs to another key' };
  const problem = ageProblem(entry, { now, ttlMs })?.reason ?? problemOfFiles(entry.files);
  if (problem !== undefined) return { miss: `shared entry: ${problem}` };
  return { entry, sizes: new Map(result.files.map(({ digest, bytes }) => [digest, bytes])) };
}

function inShared(reason: string): string {
  const [, why] = /^damaged entry set aside \((.*)\)$/.exec(reason) ?? [];
  return why === undefined ? `shared ${reason}` : `shared entry is damaged (${why})`;
}
