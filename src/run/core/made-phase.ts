import type { FingerprintValue, Identity } from '../../memo/identity.js';
import type { Phase } from '../../model/flow.js';
import type { JsonValue } from '../../model/json.js';
import type { Settled } from './execution.js';

/** A phase of the flow itself that is settled, with all that its result was made from. */
export interface MadePhase {
  readonly phase: Phase;
  readonly settled: Settled;
  readonly fingerprints: readonly FingerprintValue[];
  /** Other files that it read, with digests; undefined when not all of them are known. */
  readonly reads: readonly (readonly [path: string, digest: string])[] | undefined;
  /** It was given variables of the environment, or arguments that are secret: their values are in its key. */
  readonly hasEnvironment: boolean;
  readonly ttlMs?: number;
}

/** An item, a branch or an iteration that is settled. */
export interface MadeUnit {
  /** Of its phase. */
  readonly path: string;
  readonly label: string;
  /** Of a map. */
  readonly item?: JsonValue;
  readonly settled: Settled;
}

/** Work whose result was in the store. */
export interface ReusedWork {
  readonly phase: Phase;
  readonly path: string;
  readonly unit?: string;
  readonly identity: Identity;
  readonly settled: Settled;
  /** It is one call or process; what consists of other work is not executed again as a whole. */
  readonly isSingle: boolean;
  /** Executes it again, beside the store. */
  readonly again: () => Promise<Settled>;
}
