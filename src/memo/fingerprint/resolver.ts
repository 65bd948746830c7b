import { canonicalEncode } from '../../util/canonical.js';
import type { Project } from '../../util/project.js';
import { KnownStats } from '../files/known-stats.js';
import { resolveCommand } from './cmd.js';
import { resolveEnv } from './env.js';
import { resolveFile } from './file.js';
import { resolveGitRef } from './git-ref.js';
import { resolveGitWorktree } from './git-worktree.js';
import { resolveGlob } from './glob.js';
import type { Exec, FingerprintSource, Resolution, SourceContext, SourceOptions, SourceResult } from './source.js';
import { type Fingerprint, parseFingerprint } from './syntax.js';

/** One per kind of entry. A new one is added here and in `syntax.ts`. */
const SOURCES: { readonly [S in Fingerprint['source']]: FingerprintSource<Fingerprint & { source: S }> } = {
  'git-ref': resolveGitRef,
  'git-worktree': resolveGitWorktree,
  glob: resolveGlob,
  file: resolveFile,
  env: resolveEnv,
  cmd: resolveCommand,
};

interface ResolveOptions {
  /** Absolute; the project root if not said. */
  readonly cwd?: string;
  readonly ownOutputs: readonly string[];
}

export interface FingerprintResolver {
  /** The entry's value now, or why it has none (then the phase is not cached this time). */
  resolve(entry: string, options: ResolveOptions): Promise<Resolution> | Resolution;
  /** Call it when a phase executed or restored files: earlier values may be out of date. */
  touched(): void;
  /** How often that has happened, and when it last did, by `clock.elapsed`. */
  readonly touches: number;
  readonly touchedAt: number;
}

export interface FingerprintsOptions {
  readonly project: Project;
  /** The store's folder; absolute. */
  readonly stateDir: string;
  readonly exec: Exec;
  readonly signal?: SourceContext['signal'];
  /** Default true. False: `cmd:` entries have no value. */
  readonly runCommands?: boolean;
  readonly stats?: KnownStats;
}

export function createFingerprints(options: FingerprintsOptions): FingerprintResolver {
  const { runCommands = true, stats = new KnownStats(options.project) } = options;
  const context: SourceContext = { ...options, runCommands, stats, inside: new Set() };
  const resolved = new Map<string, Promise<Resolution> | Resolution>();
  let touches = 0;
  let touchedAt = Number.NEGATIVE_INFINITY;
  const parsed = new Map<string, ReturnType<typeof parseFingerprint>>();
  const parse = (entry: string) => {
    const known = parsed.get(entry) ?? parseFingerprint(entry);
    parsed.set(entry, known);
    return known;
  };
  return {
    resolve(entry, { cwd = options.project.root, ownOutputs }) {
      const plain = cwd === options.project.root && ownOutputs.length === 0;
      const name = plain ? entry : canonicalEncode([entry, cwd, ownOutputs]);
      const known = resolved.get(name);
      if (known) return known;
      const resolution = resolveEntry({ entry, parsed: parse(entry) }, { cwd, ownOutputs }, context);
      resolved.set(name, resolution);
      return resolution;
    },
    get touches() {
      return touches;
    },
    get touchedAt() {
      return touchedAt;
    },
    touched() {
      touches += 1;
      touchedAt = options.project.clock.elapsed();
      resolved.clear();
      context.inside.clear();
    },
  };
}

/** Without a promise where the source needs none: a warm run resolves a thousand entries. */
function resolveEntry(
  { entry, parsed }: { readonly entry: string; readonly parsed: ReturnType<typeof parseFingerprint> },
  options: SourceOptions,
  context: SourceContext,
): Promise<Resolution> | Resolution {
  if (!('ok' in parsed)) return { failed: parsed.problem };
  const source = SOURCES[parsed.ok.source] as FingerprintSource;
  try {
    const result = source(parsed.ok, options, context);
    return result instanceof Promise
      ? result.then((found) => resolutionOf(entry, found), reasonNotToCache)
      : resolutionOf(entry, result);
  } catch (error) {
    return reasonNotToCache(error);
  }
}

function resolutionOf(entry: string, result: SourceResult): Resolution {
  if ('failed' in result) return result;
  // Not `...result`: reading `parts` would compute them.
  const { warning, matchesNothing } = result;
  if (!('parts' in result)) return { value: { entry, value: result.value }, warning, matchesNothing };
  const value = Object.defineProperty({ entry, value: result.value }, 'parts', {
    enumerable: false,
    get: () => result.parts,
  });
  return { value, warning, matchesNothing };
}

/** An unexpected error of the file system is a reason not to cache, not to fail. */
function reasonNotToCache(error: unknown): { readonly failed: string } {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return { failed: message };
}
