import { type FingerprintValue, type Identity, KEY_VERSION, keyOf, type UpstreamPart } from '../memo/identity.js';
import type { JsonObject, JsonValue } from '../model/json.js';
import { canonicalEncode } from '../util/canonical.js';
import type { PhaseContext } from './phase-context.js';
import { render } from './render.js';
import type { Variables } from './scope.js';

/** What a kind knows about its own identity; the rest is common to all. */
export interface IdentityParts {
  readonly body: JsonObject;
  readonly agent?: JsonValue;
  readonly env?: Readonly<Record<string, string>>;
  readonly context?: readonly JsonObject[];
  readonly cwd?: string;
  readonly ordinal?: number;
  readonly variables?: Variables;
  /** Resolved elsewhere: those of a nested flow. */
  readonly fingerprints?: readonly FingerprintValue[];
  /** How long what is inside may be reused. */
  readonly ttlMs?: number;
  /** A nested flow that is entered, so that its own phases are reused one by one. */
  readonly container?: true;
  /** Why nobody can say what decides the result; it is then neither looked up nor kept. */
  readonly unidentified?: string;
}

export type Identified = { readonly identity: Identity; readonly key: string } | { readonly unidentified: string };

export async function identify(at: PhaseContext, parts: IdentityParts, unit?: string): Promise<Identified> {
  if (parts.unidentified !== undefined) return { unidentified: parts.unidentified };
  const { phase, scope } = at;
  const fingerprints: FingerprintValue[] = parts.fingerprints ? [...parts.fingerprints] : [];
  for (const entry of fingerprintEntries(at, parts)) {
    const pending = at.run.fingerprints.resolve(entry, { ownOutputs: phase.outputs });
    const resolved = pending instanceof Promise ? await pending : pending;
    if ('failed' in resolved) return { unidentified: `${entry}: ${resolved.failed}` };
    if (resolved.warning !== undefined) at.run.warn(`${entry}: ${resolved.warning}`);
    fingerprints.push(resolved.value);
  }
  if (fingerprints.length > 1) fingerprints.sort((a, b) => (a.entry < b.entry ? -1 : 1));
  const identity: Identity = {
    version: KEY_VERSION,
    flow: scope.flow.name,
    phase: phase.id,
    kind: phase.kind,
    body: parts.body,
    agent: parts.agent ?? null,
    env: parts.env ?? {},
    context: parts.context ?? [],
    output: phase.output,
    expect: phase.expect ?? null,
    cwd: parts.cwd ?? '.',
    fingerprints,
    upstream: upstreamParts(at),
    outputs: declaredOutputs(at, unit, parts.variables),
    ordinal: parts.ordinal ?? 0,
  };
  return { identity, key: keyOf(identity) };
}

/** A phase's own globs; of one unit among several only those that name it. */
export function declaredOutputs(at: PhaseContext, unit: string | undefined, variables?: Variables): readonly string[] {
  const { outputs } = at.phase;
  if (outputs.length === 0) return outputs;
  if (unit === undefined) return outputs.map((pattern) => render(at, pattern, variables).text);
  return outputs.filter((pattern) => pattern.includes('{')).map((pattern) => render(at, pattern, variables).text);
}

/** Which fingerprint says something else now than before the execution, in words; undefined when none does. */
export async function fingerprintsMoved(at: PhaseContext, identity: Identity): Promise<string | undefined> {
  for (const before of identity.fingerprints) {
    const now = await at.run.fingerprints.resolve(before.entry, { ownOutputs: at.phase.outputs });
    if ('failed' in now) return `${before.entry}: ${now.failed}`;
    if (canonicalEncode(now.value.value) !== canonicalEncode(before.value)) {
      return `${before.entry} changed while the phase ran`;
    }
  }
  return undefined;
}

function fingerprintEntries(at: PhaseContext, parts: IdentityParts): string[] {
  const entries = at.policy.fingerprint.map((entry) =>
    entry.includes('{') ? render(at, entry, parts.variables).text : entry,
  );
  if (parts.cwd === 'worktree' && !entries.includes('git:HEAD')) entries.push('git:HEAD');
  return entries;
}

/**
 * Files that upstream phases declare can be seen by this one; a phase that is followed without being quoted counts by
 * what it was made from. A quoted phase without files is in the rendered body already.
 */
function upstreamParts(at: PhaseContext): UpstreamPart[] {
  const parts: UpstreamPart[] = [];
  for (const edge of at.phase.needs) {
    const outcome = at.scope.outcomes.get(edge.id);
    if (outcome?.status !== 'done') {
      if (!edge.referenced) parts.push({ id: edge.id, status: outcome?.status ?? 'unsettled' });
    } else if (outcome.files.length > 0) {
      parts.push({
        id: edge.id,
        files: Object.fromEntries(outcome.files.map((f) => [f.path, `${f.digest}:${f.mode}`])),
      });
    } else if (!edge.referenced) {
      parts.push({ id: edge.id, key: outcome.key ?? outcome.status });
    }
  }
  return parts;
}
