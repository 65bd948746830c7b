import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DiskStore } from '../store/disk-store.js';
import { blobsOf } from '../store/entry-blobs.js';
import type { CheckOptions } from '../store/options.js';
import { isLink, isSafeLink } from '../store/output-path.js';
import { mergedSets } from '../store/path-sets.js';
import { blobPath } from '../store/paths.js';
import type { Entry, Fetched, GetOptions } from '../store/store.js';
import { removeIfThere, temporaryName, writeAll } from '../util/atomic-write.js';
import { sha256Hex, sha256Stream } from '../util/digest.js';
import { statIfThere } from '../util/stat.js';
import { whyUnwritable } from '../util/why-unwritable.js';
import type { Breaker } from './breaker.js';
import type { Remote, ServerAnswer } from './remote.js';
import type { RemoteSettings } from './settings.js';
import { decodeShared, encodeShared } from './wire-entry.js';

/** An entry with its output in it; larger outputs are blobs. */
const LARGEST_ENTRY = 32 * 1024 * 1024;

interface SharedCacheOptions extends CheckOptions {
  readonly settings: RemoteSettings;
  readonly remote: Remote;
  readonly disk: DiskStore;
  readonly breaker: Breaker;
}

/** Moves single entries, with their blobs, between a server and the local store. Expected trouble is a value. */
export class SharedCache {
  constructor(private readonly options: SharedCacheOptions) {}

  /** Brings an entry into the local store if there is one that may be used. */
  async fetch(key: string, { ttlMs, now }: GetOptions): Promise<Fetched> {
    const { settings, disk, recomputeKey } = this.options;
    const body = await this.#getEntry(key);
    if (!body) return { miss: undefined };
    const decoded = decodeShared(body, { key, trust: settings.trust, recomputeKey, ttlMs, now });
    if ('miss' in decoded) return decoded;
    const { entry, sizes } = decoded;
    const missing = [...new Set(blobsOf(entry))].filter((digest) => !disk.blobs.has(digest));
    const problems = await Promise.all(missing.map((digest) => this.getBlob(digest, sizes.get(digest))));
    const problem = problems.find((each) => each !== undefined) ?? this.#unsafeLink(entry);
    if (problem !== undefined) return { miss: problem };
    const put = disk.put(this.#withOwnSets(entry, now));
    return put.stored ? { fetched: true } : { miss: put.reason };
  }

  #withOwnSets(entry: Entry, now: number): Entry {
    if (!entry.pathSets) return entry;
    const local = this.options.disk.peek(entry.key, { now });
    const own = 'entry' in local ? (local.entry.pathSets ?? []) : [];
    return { ...entry, pathSets: mergedSets(own, entry.pathSets) };
  }

  /** Blobs first, the entry last. Returns why it is not there now, in words. */
  async upload(entry: Entry): Promise<string | undefined> {
    const { disk, settings, remote, breaker } = this.options;
    const sizes = new Map<string, number>();
    for (const digest of new Set(blobsOf(entry))) {
      const bytes = statIfThere(blobPath(disk.options.dir, digest))?.size;
      if (bytes === undefined) return 'a kept file is gone';
      sizes.set(digest, bytes);
    }
    const failures = await Promise.all([...sizes].map(([digest, bytes]) => this.putBlob(digest, bytes)));
    const failure = failures.find((each) => each !== undefined);
    if (failure !== undefined) return failure;
    const data = encodeShared(entry, settings.signer, (digest) => sizes.get(digest) ?? 0);
    const upload = { data, digest: sha256Hex(data) };
    const answer = await remote.put({ kind: 'ac', name: entry.key }, upload, breaker.signal('write'));
    breaker.count('write', answer);
    return whyNot(answer);
  }

  async has(key: string): Promise<boolean> {
    const { remote, breaker } = this.options;
    const answer = await remote.head({ kind: 'ac', name: key }, breaker.signal('write'));
    if (!('refused' in answer)) breaker.count('write', answer);
    return 'found' in answer;
  }

  async #getEntry(key: string): Promise<Buffer | undefined> {
    const { remote, breaker } = this.options;
    const chunks: Buffer[] = [];
    const take = (chunk: Buffer) => void chunks.push(chunk);
    const answer = await remote.get({ kind: 'ac', name: key }, { bytes: LARGEST_ENTRY, take }, breaker.signal('read'));
    breaker.count('read', answer);
    return 'found' in answer ? Buffer.concat(chunks) : undefined;
  }

  /** Returns what is wrong, in words. Only bytes that have the digest reach its name. */
  async getBlob(digest: string, size = 0): Promise<string | undefined> {
    const { remote, breaker, disk } = this.options;
    const { maxBytes } = disk.options.limits;
    if (size > maxBytes) return 'a shared file is larger than the local store may be';
    const temporary = temporaryName(blobPath(disk.options.dir, digest));
    const file = new ReceivedFile(temporary);
    try {
      const answer = await remote.get(
        { kind: 'cas', name: digest },
        { bytes: size, take: (chunk) => file.take(chunk) },
        breaker.signal('read'),
      );
      breaker.count('read', answer);
      if (!('found' in answer)) return `a shared file is missing (${whyNot(answer)})`;
      const received = file.end();
      if ('failed' in received) return received.failed;
      if (received.digest !== digest) return 'a shared file is damaged';
      const kept = disk.blobs.adopt(temporary, received);
      return 'failed' in kept ? kept.failed : undefined;
    } finally {
      file.end();
      removeIfThere(temporary);
    }
  }

  /** Uploads a blob of the local store; returns why it is not there now, in words. */
  async putBlob(digest: string, bytes: number): Promise<string | undefined> {
    const { remote, breaker, disk } = this.options;
    const item = { kind: 'cas', name: digest } as const;
    const signal = breaker.signal('write');
    const known = await remote.head(item, signal);
    if ('found' in known) return undefined;
    if ('failed' in known && !known.isServers) {
      breaker.count('write', known);
      return known.failed;
    }
    const answer = await remote.put(item, { digest, file: blobPath(disk.options.dir, digest), bytes }, signal);
    breaker.count('write', answer);
    return whyNot(answer);
  }

  #unsafeLink({ files }: Entry): string | undefined {
    const { blobs } = this.options.disk;
    const unsafe = files.find((file) => isLink(file) && !isSafeLink(file.path, blobs.readText(file.digest) ?? ''));
    return unsafe && `shared entry: ${unsafe.path} is a link that leaves the project, or leads to .git or .pi`;
  }
}

function whyNot(answer: ServerAnswer): string | undefined {
  if ('found' in answer) return undefined;
  if ('absent' in answer) return 'it is not there';
  return 'refused' in answer ? answer.refused : answer.failed;
}

/** A file that is written piece by piece. A full disk is the same to the caller as a failed download. */
class ReceivedFile {
  readonly #hash = sha256Stream();
  #file: number | undefined;
  #bytes = 0;
  #failed: string | undefined;
  #result: { digest: string; bytes: number } | { failed: string } | undefined;

  constructor(private readonly path: string) {}

  take(chunk: Buffer): void {
    if (this.#failed !== undefined) return;
    try {
      this.#open();
      writeAll(this.#file!, chunk);
      this.#hash.update(chunk);
      this.#bytes += chunk.length;
    } catch (error) {
      this.#failed = `cannot write to the cache: ${whyUnwritable(error)}`;
    }
  }

  end(): { readonly digest: string; readonly bytes: number } | { readonly failed: string } {
    this.#result ??= this.#close();
    return this.#result;
  }

  #open(): void {
    if (this.#file !== undefined) return;
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    this.#file = openSync(this.path, 'wx', 0o600);
  }

  #close(): { digest: string; bytes: number } | { failed: string } {
    // An empty file has no pieces.
    if (this.#failed === undefined) this.take(Buffer.alloc(0));
    if (this.#file !== undefined) closeSync(this.#file);
    return this.#failed === undefined ? { digest: this.#hash.hex(), bytes: this.#bytes } : { failed: this.#failed };
  }
}
