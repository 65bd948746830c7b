import { canonicalEncode } from '../../util/canonical.js';
import type { Project } from '../../util/project.js';
import { resolveCommand } from './cmd.js';
import { resolveEnv } from './env.js';
import { resolveFile } from './file.js';
import { resolveGitRef } from './git-ref.js';
import { resolveGitWorktree } from './git-worktree.js';
import { resolveGlob } from './glob.js';
import type { Exec, Resolution, Source, SourceContext, SourceOptions, SourceResult } from './source.js';
import { type Fingerprint, parseFingerprint } from './syntax.js';

/** One per kind of entry. A new one is added here and in `syntax.ts`. */
const SOURCES: { readonly [S in Fingerprint['source']]: Source<Fingerprint & { source: S }> } = {
  'git-ref': resolveGitRef,
  'git-worktree': resolveGitWorktree,
  glob: resolveGlob,
  file: resolveFile,
  env: resolveEnv,
  cmd: resolveCommand,
};

export interface ResolveOptions {
  /** Absolute; the project root if not said. */
  readonly cwd?: string;
  readonly ownOutputs: readonly string[];
}

export interface FingerprintResolver {
  /** The entry's value now, or why it has none (then the phase is not cached this time). */
  resolve(entry: string, options: ResolveOptions): Promise<Resolution>;
  /** Some phase executed or restored files: what was resolved before is no longer good. */
  touched(): void;
}

export interface FingerprintsOptions {
  readonly project: Project;
  /** The store's folder; absolute. */
  readonly stateDir: string;
  readonly exec: Exec;
  /** Default true. False: `cmd:` entries have no value. */
  readonly runCommands?: boolean;
}

export function createFingerprints(options: FingerprintsOptions): FingerprintResolver {
  const context: SourceContext = { ...options, runCommands: options.runCommands ?? true };
  let resolved = new Map<string, Promise<Resolution>>();
  return {
    resolve(entry, { cwd = options.project.root, ownOutputs }) {
      const name = canonicalEncode([entry, cwd, ownOutputs]);
      const known = resolved.get(name);
      if (known) return known;
      const resolution = resolveEntry(entry, { cwd, ownOutputs }, context);
      resolved.set(name, resolution);
      return resolution;
    },
    touched() {
      resolved = new Map();
    },
  };
}

async function resolveEntry(entry: string, options: SourceOptions, context: SourceContext): Promise<Resolution> {
  const parsed = parseFingerprint(entry);
  if (!('ok' in parsed)) return { failed: parsed.problem };
  const source = SOURCES[parsed.ok.source] as Source;
  const result = await guarded(() => source(parsed.ok, options, context));
  if ('failed' in result) return result;
  const value = Object.defineProperty({ entry, value: result.value }, 'parts', {
    enumerable: false,
    get: () => result.parts,
  });
  return result.warning === undefined ? { value } : { value, warning: result.warning };
}

/** Whatever the file system says that a source did not expect is a reason not to cache, not to stop. */
async function guarded(resolve: () => Promise<SourceResult> | SourceResult): Promise<SourceResult> {
  try {
    return await resolve();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { failed: message };
  }
}
