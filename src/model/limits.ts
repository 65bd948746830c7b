/**
 * Every bound on what comes from outside, in one place: texts, lists, patterns, waits. What exceeds a bound is a
 * failure that names it; nothing is cut in silence. Bounds on a flow's own text (size, phases, nesting) are in the
 * checker.
 */

const MIB = 1024 * 1024;

/** The bounds that the settings can change: `limits.*`. */
export interface Limits {
  /** Output of one phase or item. A large output is in a file, not in memory. */
  readonly outputBytes: number;
  /** Items of one map. */
  readonly items: number;
  /** How long a run waits for a provider's usage limit to reset. */
  readonly resetWaitMs: number;
}

export const DEFAULT_LIMITS: Limits = { outputBytes: 256 * MIB, items: 1_000_000, resetWaitMs: 6 * 3_600_000 };

/** The upper bound of `limits.outputBytes`. */
export const LARGEST_OUTPUT_BYTES = 64 * 1024 * MIB;

/** A larger output is in a file of the run. */
export const INLINE_BYTES = MIB;

/** Bound for texts that must be in memory: in a template, as JSON, for `expect`, an agent's answer. */
export const TEXT_BYTES = 32 * MIB;

/** Bound for the pieces of a streamed answer, as a multiple of the text in them. */
export const STREAM_FACTOR = 16;

/** Output of a probe (`cmd:`, git): enough for the paths of a very large repository. */
export const PROBE_BYTES = 128 * MIB;

/** A file of `context` that is larger is read in pieces, and only its beginning is kept. */
export const WHOLE_CONTEXT_BYTES = 16 * MIB;

/** Time for a pattern against a text, or for all patterns of one condition. Signals wait for that long. */
export const PATTERN_MS = 250;

/** Time for a schema against a value: as long as a pattern, and more for large values, up to a bound. */
const SCHEMA_MS_PER_MIB = 250;
const LONGEST_SCHEMA_MS = 5_000;

export function schemaMs(valueLength: number): number {
  return Math.min(LONGEST_SCHEMA_MS, PATTERN_MS + Math.ceil((SCHEMA_MS_PER_MIB * valueLength) / MIB));
}

/**
 * The longest pause before another attempt. A server that asks for more gets none, unless a usage limit is the reason.
 */
export const LONGEST_PAUSE_MS = 5 * 60_000;
