import type { CachePolicy, Flow, Phase } from '../model/flow.js';
import { mayBeCrossRun } from '../model/kind.js';
import type { RawCache, RawObserve } from '../model/schema/common.js';
import type { Path } from '../parse/locate.js';
import { parseDuration } from '../util/duration.js';
import { checkDuration } from './durations.js';
import { checkFingerprint } from './fingerprints.js';
import { leavesProject } from './paths.js';
import { crossRunObstacle, innerTtlMs, nestedFlows } from './permission.js';
import type { PhaseReader } from './phase-reader.js';

interface PolicyDefaults {
  readonly cache?: RawCache;
  readonly incremental: boolean;
  readonly path: Path;
}

/**
 * The cache policy of a phase. A `cross-run` of its own that is not allowed is an error; one from `defaults` or
 * `incremental` is dropped silently.
 */
export function cachePolicy(reader: PhaseReader, phase: Phase, defaults: PolicyDefaults): CachePolicy {
  const own = (reader.source.raw['cache'] ?? {}) as RawCache;
  const given = { ...defaults.cache, ...own };
  const nested = nestedFlows(phase, (use) => usedFlow(reader, use));
  const obstacle = crossRunRefusal(reader, phase, nested);
  const wanted = given.scope ?? (defaults.incremental ? 'cross-run' : 'run-only');
  const scope = chooseScope(reader, wanted as CachePolicy['scope'], obstacle);
  const fingerprint = given.fingerprint ?? [];
  checkFingerprints(reader, own, defaults);
  const ttlMs = timeToLive(reader, given, scope);
  const inner = nested.map((flow) => innerTtlMs(flow, (use) => usedFlow(reader, use)));
  const shortest =
    scope === 'cross-run' ? [ttlMs, ...inner].filter((ttl) => ttl !== undefined).sort((a, b) => a - b)[0] : ttlMs;
  const named = given.fingerprint !== undefined;
  const implied = scope === 'cross-run' && given.scope === undefined && !named;
  const observe = observeSetting(reader, own, defaults);
  return { scope, ttlMs: shortest, fingerprint, named, implied, ...(observe && { observe }) };
}

function usedFlow(reader: PhaseReader, use: string): Flow | undefined {
  const found = reader.context.used.get(use);
  return found && 'flow' in found ? found.flow : undefined;
}

/** Why this phase may not be reused across runs, worded to follow "because". */
function crossRunRefusal(reader: PhaseReader, phase: Phase, nested: readonly Flow[]): string | undefined {
  if (!mayBeCrossRun(phase.kind))
    return `${phase.kind === 'approval' ? 'an' : 'a'} ${phase.kind} decides about this run`;
  if (!phase.idempotent) return 'it is not idempotent';
  for (const flow of nested) {
    const obstacle = crossRunObstacle(flow, (use) => usedFlow(reader, use));
    if (obstacle) return `it contains ${obstacle}`;
  }
  return undefined;
}

function chooseScope(
  reader: PhaseReader,
  wanted: CachePolicy['scope'],
  obstacle: string | undefined,
): CachePolicy['scope'] {
  const own = (reader.source.raw['cache'] ?? {}) as RawCache;
  if (wanted !== 'cross-run' || obstacle === undefined) return wanted;
  if (own.scope === 'cross-run') {
    const message = `"${reader.source.id}" may not be reused across runs, because ${obstacle}`;
    reader.problems.error(reader.path('cache', 'scope'), 'cross-run', {
      message,
      hint: 'leave "scope" out, or say run-only',
    });
  }
  return 'run-only';
}

/** Each setting of the phase overrides that of `defaults`. */
function observeSetting(
  reader: PhaseReader,
  own: RawCache,
  defaults: PolicyDefaults,
): CachePolicy['observe'] | undefined {
  if (own.observe !== undefined) checkObserve(reader, reader.path('cache', 'observe'), own.observe);
  if (own.observe === undefined && defaults.cache?.observe === undefined) return undefined;
  return { ...observeFields(defaults.cache?.observe), ...observeFields(own.observe) };
}

function observeFields(observe: RawObserve | undefined): NonNullable<CachePolicy['observe']> {
  return typeof observe === 'string' ? { mode: observe } : (observe ?? {});
}

/** Checks that globs, like those of fingerprints, are about files of the project. */
export function checkObserve(reader: PhaseReader, path: Path, observe: RawObserve): void {
  for (const name of ['exclude', 'include'] as const) {
    for (const [index, glob] of (observeFields(observe)[name] ?? []).entries()) {
      if (!leavesProject(glob)) continue;
      reader.problems.error([...path, name, index], 'outside-project', 'this path leads out of the project');
    }
  }
}

function checkFingerprints(reader: PhaseReader, own: RawCache, { cache, path }: PolicyDefaults): void {
  if (own.fingerprint === undefined) {
    for (const [index, entry] of (cache?.fingerprint ?? []).entries()) {
      reader.inherited([...path, 'cache', 'fingerprint', index], entry);
    }
    return;
  }
  for (const [index, entry] of own.fingerprint.entries()) {
    checkFingerprint(reader, reader.path('cache', 'fingerprint', index), {
      entry,
      scope: reader.ownScope,
    });
  }
}

function timeToLive(reader: PhaseReader, given: RawCache, scope: string): number | undefined {
  const own = (reader.source.raw['cache'] ?? {}) as RawCache;
  if (given.ttl === undefined) return undefined;
  if (own.ttl === undefined) return parseDuration(given.ttl);
  const { problems } = reader.context;
  const path = reader.path('cache', 'ttl');
  const ttl = checkDuration(own.ttl, { path, problems, hint: 'scope: off turns reuse off' });
  if (ttl && scope !== 'cross-run') problems.noEffect(path, '"ttl" means nothing without scope: cross-run');
  return ttl;
}
