import type { JsonObject } from '../model/json.js';
import type { Project } from '../util/project.js';

/** Where a store is and what it may hold. Opening one costs nothing: the folder is made by the first write. */
export interface StoreOptions {
  /** Absolute. */
  readonly dir: string;
  readonly project: Project;
  readonly limits: StoreLimits;
  /** With it, every entry carries a MAC and one without a valid MAC is a miss. */
  readonly signingKey?: Buffer | string;
  /** Called once when the store cannot be written; the run goes on without it. */
  readonly onWarning?: (message: string) => void;
}

export interface StoreLimits {
  /** Entries and blobs together. */
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** Since the last use. */
  readonly maxAgeMs: number;
}

/** For checking entries that came from elsewhere or may have been changed. */
export interface CheckOptions {
  /** The key of a stored identity, where that determines it: see `recomputeKey` of `memo`. */
  readonly recomputeKey?: (identity: JsonObject) => string | undefined;
}

export interface ImportOptions extends StoreOptions, CheckOptions {}
