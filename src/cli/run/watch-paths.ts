import { join, resolve } from 'node:path';
import { hasWildcards, LEFT_OUT } from '../../memo/files/glob-pattern.js';
import { parseFingerprint } from '../../memo/fingerprint/syntax.js';
import type { Flow, Phase } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import type { Observation } from '../../model/observation.js';
import { parseTemplate } from '../../plan/template.js';
import { bodiesOf } from '../../run/reuse/nested-identity.js';
import { realPath } from '../../util/inside.js';
import { type Project, STATE_DIR } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';

/** The watchable paths that a run looks at. All absolute, except the globs. */
export interface WatchedPaths {
  readonly files: ReadonlySet<string>;
  /** Folders of which the names inside count. */
  readonly folders: ReadonlySet<string>;
  /** From the project root. */
  readonly globs: ReadonlySet<string>;
  /** The flow depends on the whole worktree. */
  readonly worktree: boolean;
  /** The flow depends on a ref, or on the worktree, which has one. */
  readonly refs: boolean;
}

interface LookedAt {
  readonly project: Project;
  /** Files that were read before the run, absolute; a folder that was listed ends with a slash. */
  readonly read: Iterable<string>;
  /** Fingerprints, with their values filled in; context files and globs as `file:` and `glob:`. */
  readonly entries: Iterable<string>;
  /** Paths that executions were observed to look at. */
  readonly observed?: Iterable<SeenPaths>;
}

export type SeenPaths = Pick<Observation, 'reads' | 'absent' | 'lists'>;

export function watchedPaths({ project, read, entries, observed = [] }: LookedAt): WatchedPaths {
  const files = new Set<string>();
  const folders = new Set<string>();
  const globs = new Set<string>();
  const sources = new Set<string>();
  // An edit shows where the file really is; a link may be pointed elsewhere.
  const addTo = (set: Set<string>, path: string) => set.add(path).add(realPath(path));
  const fromRoot = (path: string) => resolve(project.root, path);
  for (const path of read) {
    if (path.endsWith('/')) addTo(folders, path.slice(0, -1));
    else addTo(files, path);
  }
  for (const entry of entries) {
    const parsed = parseFingerprint(entry);
    if (!('ok' in parsed)) continue;
    sources.add(parsed.ok.source);
    if (parsed.ok.source === 'file') addTo(files, fromRoot(parsed.ok.path));
    else if (parsed.ok.source === 'glob') globs.add(parsed.ok.pattern);
  }
  for (const { reads, absent, lists } of observed) {
    for (const path of [...reads, ...absent].filter(mayBeEdited)) addTo(files, fromRoot(path));
    for (const { path } of lists) if (mayBeEdited(path)) addTo(folders, fromRoot(path));
  }
  const worktree = sources.has('git-worktree');
  return { files, folders, globs, worktree, refs: worktree || sources.has('git-ref') };
}

/** Leaves out what tools read but people do not edit. */
function mayBeEdited(path: string): boolean {
  return !path.startsWith(STATE_DIR) && !path.split('/').some((name) => LEFT_OUT.includes(name));
}

/** The inputs that the flow declares, without those that depend on other phases. */
export function declaredEntries(flow: Flow, args: JsonObject, project: Project): string[] {
  return flow.phases.flatMap((phase) => {
    const written = [
      ...phase.cache.fingerprint,
      ...(phase.cache.implied ? ['git:worktree'] : []),
      ...phase.context.map(contextEntry),
      ...programsOf(phase, project),
    ];
    const inner = 'source' in phase && phase.source.from === 'inline' ? phase.source.flow : undefined;
    return [
      ...written.flatMap((entry) => filled(entry, args) ?? []),
      ...(inner ? declaredEntries(inner, {}, project) : []),
    ];
  });
}

export function contextEntry(pattern: string): string {
  return `${hasWildcards(pattern) ? 'glob' : 'file'}:${pattern}`;
}

/** Undefined where only a run can fill the placeholders. */
function filled(entry: string, args: JsonObject): string | undefined {
  let text = '';
  for (const segment of parseTemplate(entry).segments) {
    if (segment.type === 'text') text += segment.text;
    else if (segment.ref.root === 'args' && typeof args[segment.ref.name] === 'string') text += args[segment.ref.name];
    else return undefined;
  }
  return text;
}

const INTERPRETER = /^(?:node|deno|bun|tsx|python[\d.]*|ruby|perl|php|bash|sh|zsh)$/;

/** The program of the project that a script starts: `[bin/tool, …]`, `[node, tool.js, …]`. */
function programsOf(phase: Phase, { root }: Project): string[] {
  return bodiesOf(phase).flatMap((body) => {
    if (body.type !== 'run' || typeof body.run === 'string') return [];
    const [program = '', first = ''] = body.run;
    const path = INTERPRETER.test(program) ? first : program;
    return path.includes('{') || !statIfThere(join(root, path))?.isFile() ? [] : [`file:${path}`];
  });
}
