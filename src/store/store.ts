import type { JsonObject, JsonValue } from '../model/json.js';
import type { PathSet } from '../model/observation.js';
import type { Output, OutputFile, Usage } from '../model/outcome.js';
import type { Blob } from '../model/output.js';

/** One kept result, as in `<key>.json`. */
export interface Entry {
  readonly format: number;
  readonly key: string;
  /** Stored form of the identity: secrets and environment values are keyed digests, long texts are shortened. */
  readonly identity: JsonObject;
  readonly createdAt: number;
  /** How long it may be reused, as its phase declared when it was put: after that, the next collection drops it. */
  readonly ttlMs?: number;
  readonly creator: Creator;
  readonly runId: string;
  readonly flow: string;
  readonly phase: string;
  readonly output: Output;
  readonly files: readonly OutputFile[];
  readonly model?: string;
  /** What the original execution cost: what a hit saves. */
  readonly usage: Usage;
  readonly durationMs: number;
  /** Kind-specific facts worth keeping (the winner of a race, item counts …). */
  readonly facts?: JsonValue;
  /** Only in an entry that is no result: the paths whose state now, with this key, gives the key of a result. */
  readonly pathSets?: readonly PathSet[];
}

/** Who made an entry. */
export interface Creator {
  readonly taskflow: string;
  /** Version of the agent's client. */
  readonly client?: string;
  readonly user?: string;
  /** The machine; absent where a CI job says more. */
  readonly host?: string;
  /** The job, as the CI system names it. */
  readonly ci?: string;
}

/** What a look-up gives: the result without the identity that it was made from. */
export type KeptEntry = Omit<Entry, 'identity'>;

export type GetResult<E = KeptEntry> = { readonly entry: E } | { readonly miss: StoreMiss };

/** Why the store has nothing to serve. `reason` is for people: `no entry`, `expired: 7h > 6h` … */
export interface StoreMiss {
  readonly code: 'absent' | 'expired' | 'future' | 'version' | 'damaged' | 'unsigned' | 'unreadable';
  readonly reason: string;
}

/** `isReported`: the folder cannot be written, which the run has reported. */
export type PutResult =
  | { readonly stored: true }
  | { readonly stored: false; readonly reason: string; readonly isReported?: true };

/** The right to compute one key. Exactly one of `put` and `release` ends it. */
export interface Claim {
  /** Stores the result: the claim's own file becomes the entry. Never throws; says what went wrong. */
  put(entry: Entry): PutResult;
  release(): void;
}

export interface ClaimRequest {
  readonly signal?: AbortSignal;
  /** Called once when another holder is waited for. */
  readonly onWait?: (holder: string) => void;
}

export interface GetOptions {
  readonly ttlMs?: number;
  readonly now: number;
}

/** `fetched`: it is in the local store now. `miss`: why what is there is not used; undefined when there is nothing. */
export type Fetched = { readonly fetched: true } | { readonly miss: string | undefined };

/** What a run needs of a store. Reads take no lock; nothing here throws for a reason outside the program. */
export interface Store {
  get(key: string, options: GetOptions): GetResult;
  /** The whole entry. Does not count as a use. */
  peek(key: string, options: GetOptions): GetResult<Entry>;
  /**
   * Waits until this caller may compute the key, in this process or against others. Resolves to `ready` when another
   * caller has just stored it, here or `elsewhere`: look it up again. Without a usable store: `{ unavailable }`, and
   * the phase runs without a claim.
   */
  claim(
    key: string,
    request: ClaimRequest,
  ): Promise<
    { readonly claim: Claim } | { readonly ready: true; readonly elsewhere?: true } | { readonly unavailable: string }
  >;
  /** Stores without a claim (`--refresh`, gate rounds). */
  put(entry: Entry): PutResult;
  remove(key: string): void;
  /** Digest keyed with this store's secret: for values that must never be readable. */
  seal(value: string): string;
  /** Only with a shared store: asks it for a key that this store does not have. */
  fetch?(key: string, options: GetOptions): Promise<Fetched>;
  /** At the end of a run: waits for uploads, within a bound. */
  settle?(): Promise<void>;
  /** Content-addressed file bodies for `outputs`. */
  readonly blobs: BlobStore;
}

export interface BlobStore {
  /** Keeps the file's bytes; returns their digest. */
  keep(absolutePath: string): { readonly digest: string; readonly mode: number } | { readonly failed: string };
  /** Keeps a file whose digest is known, by a second name for its bytes where that is possible. */
  adopt(absolutePath: string, blob: Blob): { readonly kept: true } | { readonly failed: string };
  has(digest: string): boolean;
  /** Keeps a short text that is in no file (the target of a link). */
  keepText(text: string): { readonly digest: string } | { readonly failed: string };
  /** Undefined when the blob is missing or damaged. */
  readText(digest: string): string | undefined;
  /** Writes the blob to the path, atomically. A missing or damaged blob is `failed`. */
  restore(
    digest: string,
    absolutePath: string,
    mode: number,
  ): { readonly restored: true } | { readonly failed: string };
}
