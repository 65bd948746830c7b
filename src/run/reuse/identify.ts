import { renderFingerprint } from '../../memo/fingerprint/syntax.js';
import {
  encodeIdentity,
  type FingerprintValue,
  type Identity,
  KEY_VERSION,
  type UpstreamPart,
} from '../../memo/identity.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import { mayBeCrossRun } from '../../model/kind.js';
import type { Output } from '../../model/outcome.js';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { PhaseOutcome } from '../core/execution.js';
import type { Variables } from '../core/scope.js';
import { render, type Site } from '../render/render.js';
import { hasWarning, warnOf } from './warn-of.js';

/** What a kind knows about its own identity; the rest is common to all. */
export interface IdentityParts {
  readonly body: JsonObject;
  readonly agent?: JsonValue;
  readonly env?: Readonly<Record<string, string>>;
  readonly context?: readonly JsonObject[];
  readonly cwd?: string;
  readonly ordinal?: number;
  readonly variables?: Variables;
  /** Fingerprints of a nested flow, which are resolved elsewhere. */
  readonly probes?: readonly Probe[];
  /** Files in the identity besides the declared ones, with digests; undefined when not all of them are known. */
  readonly reads?: readonly (readonly [path: string, digest: string])[];
  /** It has no way to read a file, so the identity holds all that it can see. */
  readonly closed?: true;
  /** Which other input (a context file) changed during the execution, in words; undefined when none did. */
  readonly moved?: () => Promise<string | undefined>;
  /** How long what is inside may be reused. */
  readonly ttlMs?: number;
  /** Where another machine has it done: upstream as that one knows it. */
  readonly upstream?: readonly UpstreamPart[];
  /** A nested flow that is entered, so that its own phases are reused one by one. */
  readonly container?: true;
  /** A selector names something inside (`--rerun f/x`): the whole is executed again, and kept. */
  readonly entered?: string;
  /** Why the inputs are not all known; the result is then neither looked up nor kept. */
  readonly unidentified?: string;
  /** It fails before anything starts, so a dry run reports the failure too. */
  readonly broken?: true;
  /** It is unidentified only because a dry run starts no commands. */
  readonly unasked?: boolean;
}

/** A fingerprint, with what is needed to resolve it again. */
export interface Probe {
  readonly found: FingerprintValue;
  readonly ownOutputs: readonly string[];
}

/** `length`: of the identity's canonical encoding. */
export interface Known {
  readonly identity: Identity;
  readonly length: number;
  readonly key: string;
  readonly probes: readonly Probe[];
}

/** Why there is no key. `unasked`: a dry run does not start commands, so nobody knows. */
export interface Unidentified {
  readonly unidentified: string;
  readonly unasked?: boolean;
}

export type Identified = Known | Unidentified;

/** Answers without a promise where every fingerprint is known at once: a warm run asks a thousand times. */
export function identify(at: PhaseContext, parts: IdentityParts, unit?: string): Identified | Promise<Identified> {
  if (parts.unidentified !== undefined) return { unidentified: parts.unidentified, unasked: parts.unasked };
  const outputs = declaredOutputs(at, unit, parts.variables);
  const entries = fingerprintEntries(at, parts);
  const known = parts.probes ?? NO_PROBES;
  if (entries.length === 0) return identified(at, parts, { outputs, probes: known });
  const only = entries.length === 1 && known.length === 0 ? entries[0]! : undefined;
  if (only !== undefined && !only.includes('{')) {
    const resolved = at.run.reuse.fingerprints.resolve(only, { ownOutputs: outputs });
    if (!(resolved instanceof Promise) && 'value' in resolved && !hasWarning(resolved)) {
      return identified(at, parts, { outputs, probes: [{ found: resolved.value, ownOutputs: outputs }] });
    }
  }
  return identifySlowly(at, parts, { outputs, entries });
}

const NO_PROBES: readonly Probe[] = [];
const NO_FINGERPRINTS: FingerprintValue[] = [];
const NO_UPSTREAM: readonly UpstreamPart[] = [];
const NO_ENVIRONMENT: Identity['env'] = {};
const NO_CONTEXT: Identity['context'] = [];

async function identifySlowly(
  at: PhaseContext,
  parts: IdentityParts,
  { outputs, entries }: { readonly outputs: readonly string[]; readonly entries: readonly string[] },
): Promise<Identified> {
  const { phase } = at;
  const probes: Probe[] = parts.probes ? [...parts.probes] : [];
  for (const written of entries) {
    const entry = written.includes('{') ? filledIn(at, written, parts.variables) : written;
    if (entry === undefined) {
      if (phase.idempotent) return { unidentified: `${written} has no value` };
      continue;
    }
    const pending = at.run.reuse.fingerprints.resolve(entry, { ownOutputs: outputs });
    const resolved = pending instanceof Promise ? await pending : pending;
    if ('failed' in resolved) {
      // A side effect is never reused across runs, but its own run must find it again whatever an input says.
      if (!phase.idempotent) continue;
      const unasked = at.run.options.forecast === true && entry.startsWith('cmd:');
      return { unidentified: `${entry}: ${resolved.failed}`, unasked };
    }
    await warnOf(at, entry, resolved);
    probes.push({ found: resolved.value, ownOutputs: outputs });
  }
  return identified(at, parts, { outputs, probes });
}

function identified(
  at: PhaseContext,
  parts: IdentityParts,
  { outputs, probes }: { readonly outputs: readonly string[]; readonly probes: readonly Probe[] },
): Identified {
  const { phase, scope } = at;
  const fingerprints = probes.length === 0 ? NO_FINGERPRINTS : probes.map((probe) => probe.found);
  if (fingerprints.length > 1) fingerprints.sort((a, b) => (a.entry < b.entry ? -1 : 1));
  const identity: Identity = {
    version: KEY_VERSION,
    flow: scope.flow.name,
    phase: phase.id,
    kind: phase.kind,
    body: parts.body,
    agent: parts.agent ?? null,
    env: parts.env ?? NO_ENVIRONMENT,
    context: parts.context ?? NO_CONTEXT,
    output: phase.output,
    expect: phase.expect ?? null,
    cwd: parts.cwd ?? '.',
    fingerprints,
    upstream: parts.upstream ?? upstreamParts(at),
    outputs,
    ordinal: parts.ordinal ?? 0,
    references: undefined,
  };
  const text = encodeIdentity(at.run.reuse.sealedIdentity(identity, scope));
  return { identity, length: text.length, key: sha256Hex(text), probes };
}

/** The phase's own globs; for one unit among several, only those that its variables fill in. */
export function declaredOutputs(at: PhaseContext, unit: string | undefined, variables?: Variables): readonly string[] {
  const { outputs } = at.phase;
  if (outputs.length === 0) return outputs;
  const rendered = outputs.map((pattern) => render(at, pattern, variables).text);
  return unit === undefined ? rendered : rendered.filter((pattern, index) => pattern !== outputs[index]);
}

/** Which declared input changed during the execution, in words; undefined when none did. */
export function inputsMoved(
  at: PhaseContext,
  parts: IdentityParts,
  probes: readonly Probe[],
): Promise<string | undefined> | undefined {
  return probes.length === 0 ? parts.moved?.() : probesMoved(at, parts, probes);
}

async function probesMoved(
  at: PhaseContext,
  parts: IdentityParts,
  probes: readonly Probe[],
): Promise<string | undefined> {
  for (const { found, ownOutputs } of probes) {
    const pending = at.run.reuse.fingerprints.resolve(found.entry, { ownOutputs });
    const now = pending instanceof Promise ? await pending : pending;
    if ('failed' in now) return `${found.entry}: ${now.failed}`;
    const { value } = now.value;
    if (value !== found.value && canonicalEncode(value) !== canonicalEncode(found.value)) {
      return `${found.entry} changed while the phase ran`;
    }
  }
  return parts.moved?.();
}

function fingerprintEntries({ policy, scope }: PhaseContext, parts: IdentityParts): readonly string[] {
  const { fingerprint } = policy;
  const implied = parts.cwd === 'worktree' ? ['git:HEAD'] : [];
  // What the flows around it declare, its scripts see too. Agents see every variable, and none is in their keys.
  if (scope.kept && policy.scope === 'cross-run' && parts.agent === undefined) {
    for (const name of scope.kept.env) implied.push(`env:${name}`);
  }
  return implied.length === 0 ? fingerprint : [...new Set([...fingerprint, ...implied])];
}

/** Undefined when a placeholder has no value: its substitute would be the same next time, whatever changed. */
export function filledIn(site: Site, entry: string, variables?: Variables): string | undefined {
  let known = true;
  const text = renderFingerprint(entry, (template) => {
    const rendered = render(site, template, variables);
    known &&= rendered.unresolved.length === 0;
    return rendered.text;
  });
  return known ? text : undefined;
}

/** Names of the environment variables that the phase's fingerprints name. */
export function declaredVariables(site: Site, variables?: Variables): string[] {
  const entries = site.phase.cache.fingerprint.filter((entry) => entry.startsWith('env:'));
  return entries.flatMap((entry) => filledIn(site, entry, variables)?.slice('env:'.length).trim() ?? []);
}

/** For messages: a digest of each output that is quoted, so that a miss can name the phase whose output changed. */
export function references(at: PhaseContext): Readonly<Record<string, string>> {
  const quoted: Record<string, string> = {};
  for (const { id, referenced } of at.phase.needs) {
    const outcome = referenced ? at.scope.outcomes.get(id) : undefined;
    if (outcome?.status === 'done') quoted[id] = outputMark(outcome.result.output);
  }
  return quoted;
}

/** A digest of an output, remembered: each item of a map asks for that of its list. */
export function outputMark(output: Output): string {
  const known = marks.get(output);
  if (known !== undefined) return known;
  const mark = sha256Hex(canonicalEncode(output)).slice(0, 16);
  marks.set(output, mark);
  return mark;
}

const marks = new WeakMap<Output, string>();

/** A gate or an approval decides whether work goes on, not what it is made from: its key is enough. */
function followed(at: PhaseContext, outcome: PhaseOutcome): UpstreamPart {
  const { id, kind, status, findable } = outcome;
  const { key, output, execution } = outcome.result;
  if (!mayBeCrossRun(kind)) return { id, key: key ?? status };
  // A kept phase counts by key and output, and so does what a gate follows: a gate judges again anyway once something
  // above it executes. Any other phase counts by its execution.
  if (findable || execution === undefined || !mayBeCrossRun(at.phase.kind)) {
    return { id, key: key ?? status, output: outputMark(output) };
  }
  return { id, execution };
}

/**
 * This phase can read files that upstream phases declare, so those count. An upstream phase that it does not quote
 * counts by its key or execution. A quoted phase without files is in the rendered body already.
 */
function upstreamParts(at: PhaseContext): readonly UpstreamPart[] {
  // A side effect is identified by what it does itself.
  if (at.phase.needs.length === 0 || !at.phase.idempotent) return NO_UPSTREAM;
  const parts: UpstreamPart[] = [];
  for (const edge of at.phase.needs) {
    const outcome = at.scope.outcomes.get(edge.id);
    if (outcome?.status !== 'done') {
      if (!edge.referenced) parts.push({ id: edge.id, status: outcome?.status ?? 'unsettled' });
    } else if (outcome.result.files.length > 0) {
      parts.push({
        id: edge.id,
        files: Object.fromEntries(outcome.result.files.map((f) => [f.path, `${f.digest}:${f.mode}`])),
      });
    } else if (!edge.referenced) {
      parts.push(followed(at, outcome));
    }
  }
  return parts.length === 0 ? NO_UPSTREAM : parts;
}
