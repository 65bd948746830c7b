import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { Kind } from '../model/kind.js';
import { canonicalEncode } from '../util/canonical.js';
import { sha256Hex } from '../util/digest.js';

/** Raised when a field is added, dropped or gets another meaning: all older entries become misses. */
export const KEY_VERSION = 3;

/**
 * Everything that decides a result, one field each; the key is the digest of its canonical encoding. Not here, on
 * purpose: timeouts, retry, concurrency, `optional`, `final`, descriptions, key order, absolute paths, budgets.
 */
export interface Identity {
  readonly version: typeof KEY_VERSION;
  /** Two flows may have phases of the same id. */
  readonly flow: string;
  readonly phase: string;
  readonly kind: Kind;
  /**
   * The kind's own deciding fields, rendered: the task, argv and stdin, the condition of a loop, the mode of a
   * tournament … Upstream outputs are in here as the text they became.
   */
  readonly body: JsonObject;
  /** Runner name and settings, model, thinking, tools, agent name and system prompt; null where no agent is called. */
  readonly agent: JsonValue;
  /** Rendered environment of a process. Values never leave the key: stored identities hold keyed digests. */
  readonly env: Readonly<Record<string, string>>;
  /** Context as sent, and the digest of each whole file it came from. */
  readonly context: readonly JsonObject[];
  readonly output: 'text' | 'json';
  readonly expect: JsonValue;
  /** Relative to the project root, or the word `temp`, `dedicated`, `worktree`. */
  readonly cwd: string;
  /** The declared outside world, sorted by entry; each with its resolved value. */
  readonly fingerprints: readonly FingerprintValue[];
  /** Upstream files that this phase can see, and the keys of upstream phases that it follows without quoting. */
  readonly upstream: readonly UpstreamPart[];
  /** Declared output globs: what a hit restores. */
  readonly outputs: readonly string[];
  /**
   * For messages: the digest of each quoted upstream output, so that a miss can name the phase. Not part of the key,
   * which holds the text that the output became.
   */
  readonly references?: Readonly<Record<string, string>>;
  /** Distinguishes equal siblings, tournament variants and loop iterations; 0 otherwise. */
  readonly ordinal: number;
}

export interface FingerprintValue {
  readonly entry: string;
  /** The value itself; for `env:` entries it decides the key but only a keyed digest of it is ever written. */
  readonly value: JsonValue;
  /** For messages: per-file digests of a glob, so that a miss can name the file. Not part of the key. */
  readonly parts?: Readonly<Record<string, string>>;
}

export type UpstreamPart =
  | { readonly id: string; readonly files: JsonObject }
  /** Followed without being quoted: its key and the digest of its output. */
  | { readonly id: string; readonly key: string; readonly output?: string }
  /** Followed, but its result is not kept for later runs: the key holds this one execution. */
  | { readonly id: string; readonly execution: string }
  | { readonly id: string; readonly status: string };

/** The full digest of the canonical encoding. */
export function keyOf(identity: Identity): string {
  return sha256Hex(encodeIdentity(identity));
}

/**
 * The key of a stored identity, for checking entries that came from elsewhere; undefined when values were sealed or
 * shortened, so that what is stored does not reveal the key.
 */
export function recomputeKey(stored: JsonObject): string | undefined {
  if (stored[INEXACT] !== undefined) return undefined;
  const declared = keyOf(stored as unknown as Identity);
  const { observed } = stored;
  return observed === undefined ? declared : strongKey(declared, String(observed));
}

/** The key of a result with observed inputs: the declared key, and the state of all that its execution looked at. */
export function strongKey(declared: string, observed: string): string {
  return sha256Hex(`${declared}\nobserved ${observed}`);
}

/** Marks a stored identity in which something was sealed or shortened. */
export const INEXACT = 'inexact';

/**
 * The canonical encoding of all fields that count, put together by hand, because a warm run encodes a thousand
 * identities. `parts` and `references` are for messages and stay out; fingerprints and upstream parts count as sets, so
 * the order in which a flow lists them does not matter.
 */
export function encodeIdentity(identity: Identity): string {
  const { body, context, cwd, env } = identity;
  const { agent, rest } = commonParts(identity);
  return (
    `{"agent":${agent},"body":${encode(body)},"context":${encode(context)},"cwd":${encode(cwd)},` +
    `"env":${encode(env)},${rest}`
  );
}

/** The last encoding of the fields that are mostly the same for all items and rows of a phase. */
interface CommonParts {
  readonly of: Identity;
  readonly agent: string;
  readonly rest: string;
}

const common = new Map<string, CommonParts>();
/** Rows of a batch take turns at the phases of their flow. */
const MOST_COMMON = 64;

function commonParts(identity: Identity): CommonParts {
  const known = common.get(identity.phase);
  const hasSameAgent = known !== undefined && known.of.agent === identity.agent;
  const hasSameRest = known !== undefined && isSameRest(known.of, identity);
  if (hasSameAgent && hasSameRest) return known;
  const parts = {
    of: identity,
    agent: hasSameAgent ? known.agent : encode(identity.agent),
    rest: hasSameRest ? known.rest : encodeRest(identity),
  };
  if (common.size >= MOST_COMMON) common.clear();
  common.set(identity.phase, parts);
  return parts;
}

function encodeRest(identity: Identity): string {
  const { expect, fingerprints, flow, kind, ordinal, output, outputs, phase, upstream, version } = identity;
  const world = encodeSet(fingerprints as unknown as JsonValue, encodeFingerprint);
  const above = encodeSet(upstream as unknown as JsonValue, canonicalEncode);
  return (
    `"expect":${encode(expect)},"fingerprints":${world},"flow":${encode(flow)},"kind":${encode(kind)},` +
    `"ordinal":${encode(ordinal)},"output":${encode(output)},"outputs":${encode(outputs)},` +
    `"phase":${encode(phase)},"upstream":${above},"version":${encode(version)}}`
  );
}

/** Compares by reference: equal values that are other objects are encoded again, to the same text. */
function isSameRest(a: Identity, b: Identity): boolean {
  return (
    a.phase === b.phase &&
    a.flow === b.flow &&
    a.kind === b.kind &&
    Object.is(a.ordinal, b.ordinal) &&
    a.output === b.output &&
    a.expect === b.expect &&
    a.fingerprints === b.fingerprints &&
    a.upstream === b.upstream &&
    a.outputs === b.outputs &&
    a.version === b.version
  );
}

/** Short cuts for the values that most fields have. */
function encode(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null) return 'null';
  if (Array.isArray(value) && value.length === 0) return '[]';
  return canonicalEncode(value);
}

function encodeSet(list: JsonValue | undefined, encodeOne: (element: JsonValue) => string): string {
  if (!Array.isArray(list) || list.length === 0) return '[]';
  if (list.length === 1) return `[${encodeOne(list[0])}]`;
  return `[${list.map(encodeOne).sort().join(',')}]`;
}

/** Encodes a fingerprint without its parts. */
function encodeFingerprint(fingerprint: JsonValue): string {
  const { entry = null, value = null } = isJsonObject(fingerprint) ? fingerprint : {};
  return `{"entry":${encode(entry)},"value":${encode(value)}}`;
}
