/** A call that names a file by its whole path, in a folder. */
const CALL =
  /^(\d{1,10}) +(?:newfstatat|open(?:at)?|statx|access|l?stat|readlink)\((?:AT_FDCWD<[^>]*>, )?"(\/[^"\\]*)\/[^"\\/]+"/;
const RESUMED = /^(\d{1,10}) +<\.\.\. /;
const UNFINISHED = ' <unfinished ...>';

/** Who knows which processes there are, and what lies outside. */
interface Surroundings {
  readonly root: string;
  /** Of each process that has begun; `mounts`: it does not see files under their own names. */
  readonly views: ReadonlyMap<number, { readonly mounts?: unknown }>;
  isOutside(folder: string): boolean;
}

/**
 * Passes over lines about files that are outside the project for certain, before anything else is made of them: most
 * lines are, about programs and libraries. In as few steps as can be: a trace is too short for them to become fast.
 */
export class Elsewhere {
  readonly #isPrintable: boolean;
  /** Calls that have not returned yet, as their first lines have them. */
  readonly #begun = new Map<number, string>();

  constructor(private readonly around: Surroundings) {
    // A name that strace escapes is written in more than one way.
    this.#isPrintable = !/[^ -~]|["\\<>]/.test(around.root);
  }

  /** What is left to read of a line: itself mostly, or nothing. */
  linesLeft(line: string): readonly string[] {
    const call = CALL.exec(line);
    if (!call) return this.#begun.size === 0 ? [line] : this.#resumed(line);
    const view = this.around.views.get(Number(call[1]));
    if (!view || view.mounts || !this.#isPrintable || line.includes(this.around.root, call[0].length)) return [line];
    if (!this.around.isOutside(call[2]!)) return [line];
    if (line.endsWith(UNFINISHED)) this.#begun.set(Number(call[1]), line);
    return NONE;
  }

  /** The kernel may have found a file inside after all. */
  #resumed(line: string): readonly string[] {
    const pid = Number(RESUMED.exec(line)?.[1]);
    const begun = this.#begun.get(pid);
    if (begun === undefined) return [line];
    this.#begun.delete(pid);
    return line.includes(this.around.root) ? [begun, line] : NONE;
  }
}

const NONE: readonly string[] = [];
