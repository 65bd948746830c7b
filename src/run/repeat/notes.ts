import type { Phase } from '../../model/flow.js';
import type { Settled } from '../execution.js';

/** One settled phase, with the files that its result was made from. No more than what the run remembers of it anyway. */
export interface Note extends Pick<Settled, 'hit' | 'madeAt' | 'output' | 'model' | 'cost' | 'facts'> {
  readonly phase: Phase;
  readonly key: string;
  /** Relative paths with the digest of each, null where there was none. */
  readonly inputs: readonly (readonly [path: string, digest: string | null])[];
  /** Other fingerprints with the canonical text of their values. */
  readonly world: readonly (readonly [entry: string, value: string])[];
  readonly ttlMs?: number;
  /** Its entry had been read or written by then. */
  readonly notedAt: number;
}

/**
 * What a run notes of its phases as they settle, by id, in case that it is found unchanged the next time; of one that stood,
 * the number of its record among those that did.
 */
export type RepeatNotes = Map<string, Note | number>;
