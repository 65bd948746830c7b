/**
 * What one execution looked at inside the project, before any rule decides what of it counts. Paths are relative to the
 * project root, with forward slashes, sorted, each once. The first access decides: a path that the execution itself
 * made is neither read, listed nor missing.
 */
export interface Observation {
  /** `system`: the calls of the whole process tree. `client`: an agent client's report of its own tools. */
  readonly source: 'system' | 'client';
  /** Everything was seen. Never true for `client`: a shell command is opaque to it. */
  readonly complete: boolean;
  /** Why it is not complete, in words. */
  readonly incomplete?: string;
  /**
   * Set where tracing did not work to the end: what else it looked at is unknown (`lost`), or the tracer made a call
   * fail (`hindered`). Absent where the execution was not traced.
   */
  readonly trouble?: 'lost' | 'hindered';
  /**
   * Files whose content, size or time was looked at, and that were there before the execution. A link that was followed
   * is named too, beside what it leads to (it may lead to a folder).
   */
  readonly reads: readonly string[];
  readonly lists: readonly ListedFolder[];
  /** Paths that it looked for and did not find. */
  readonly absent: readonly string[];
  /** Paths that it only saw to exist and that nothing above implies: mostly folders. Absent: none. */
  readonly present?: readonly string[];
  /** Made, changed, moved or removed. A path can be in `reads` too: read first, then written. */
  readonly writes: readonly string[];
}

export const OBSERVE_MODES = ['auto', 'strict', 'off'] as const;

/** How a phase is observed. */
export interface Observing {
  /**
   * `auto`: as far as possible; `strict`: results are kept only if everything was seen; `off`: only declared inputs
   * count.
   */
  readonly mode: (typeof OBSERVE_MODES)[number];
  /** Globs of paths that do not count. */
  readonly exclude: readonly string[];
  /** Globs of paths that count although they are left out by default (`node_modules`). */
  readonly include: readonly string[];
}

/** The counts of an observation, for events and reports. */
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
 * The undeclared paths that executions of one key looked at: a hint where to look again. Their state now decides which
 * result may be used.
 */
export interface PathSet {
  readonly complete: boolean;
  readonly reads: readonly string[];
  readonly lists: readonly ListedFolder[];
  readonly absent: readonly string[];
  readonly present: readonly string[];
  /** For messages: shortened digests of the last state, of `reads`, then of `lists`. */
  readonly marks: readonly string[];
}

/** The paths that an execution looked at, with a digest of their state. */
export interface SeenInputs {
  readonly set: PathSet;
  readonly value: string;
}
