/**
 * What one execution looked at inside the project, before any rule decides what of it counts. Paths are relative to the
 * project root, with forward slashes, sorted, each once. The first access decides: what the execution made itself is
 * neither read, listed nor missing.
 */
export interface Observation {
  /** `system`: the calls of the whole process tree. `client`: what an agent's client said of its own tools. */
  readonly source: 'system' | 'client';
  /** Everything was seen. Never true for `client`: a shell command is opaque to it. */
  readonly complete: boolean;
  /** Why it is not complete, in words. */
  readonly incomplete?: string;
  /**
   * It was followed, and not to the end: nobody knows what else it looked at (`lost`), or the tracer kept it from what
   * it was about to do (`hindered`). Absent where nobody followed it.
   */
  readonly trouble?: 'lost' | 'hindered';
  /**
   * Files whose content, size or time was looked at, and that were there before the execution. A link that was followed
   * is named too, beside what it leads to (it may lead to a folder).
   */
  readonly reads: readonly string[];
  readonly lists: readonly ListedFolder[];
  /** Looked for and not there. */
  readonly absent: readonly string[];
  /** Only seen to be there, and not implied by anything above: folders mostly. Absent: none. */
  readonly present?: readonly string[];
  /** Made, changed, moved or removed. A path can be in `reads` too: read first, then written. */
  readonly writes: readonly string[];
}

export const OBSERVE_MODES = ['auto', 'strict', 'off'] as const;

/** How a phase is observed. */
export interface Observing {
  /** `auto`: as well as can be; `strict`: kept only if everything was seen; `off`: what is declared, nothing more. */
  readonly mode: (typeof OBSERVE_MODES)[number];
  /** Globs of paths that do not count. */
  readonly exclude: readonly string[];
  /** Globs of paths that count although they are left out else (`node_modules`). */
  readonly include: readonly string[];
}

/** How much was looked at: what events and reports say of an observation. */
export interface ObservedCounts {
  readonly complete: boolean;
  readonly incomplete?: string;
  readonly reads: number;
  readonly lists: number;
  readonly absent: number;
  readonly writes: number;
  /** How many of the paths that it read, listed or missed are not declared. */
  readonly undeclared: number;
}

export function countsOf(observed: Observation, undeclared: PathSet | undefined): ObservedCounts {
  const { complete, incomplete, reads, lists, absent, writes } = observed;
  return {
    complete,
    ...(incomplete !== undefined && { incomplete }),
    reads: reads.length,
    lists: lists.length,
    absent: absent.length,
    writes: writes.length,
    undeclared: undeclared ? undeclared.reads.length + undeclared.lists.length + undeclared.absent.length : 0,
  };
}

/** A folder that was listed; `own` are the names in it that the execution made itself. */
export interface ListedFolder {
  readonly path: string;
  readonly own: readonly string[];
}

/**
 * Where executions of one key have looked, without what is declared: a hint where to look again. What is there now
 * decides which result may be used.
 */
export interface PathSet {
  readonly complete: boolean;
  readonly reads: readonly string[];
  readonly lists: readonly ListedFolder[];
  readonly absent: readonly string[];
  readonly present: readonly string[];
  /** For messages: beginnings of the digests of what was there the last time, of `reads`, then of `lists`. */
  readonly marks: readonly string[];
}

/** What an execution has looked at, and a digest of what it found there. */
export interface SeenInputs {
  readonly set: PathSet;
  readonly value: string;
}
