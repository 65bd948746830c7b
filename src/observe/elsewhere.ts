/** A call that names a file by its absolute path. */
const CALL =
  /^(\d{1,10}) +(?:newfstatat|open(?:at)?|statx|access|l?stat|readlink)\((?:AT_FDCWD<[^>]*>, )?"(\/[^"\\]*)\/[^"\\/]+"/;
const RESUMED = /^(\d{1,10}) +<\.\.\. /;
const UNFINISHED = ' <unfinished ...>';

/** Knows the processes, and which folders are outside the project. */
interface Surroundings {
  readonly root: string;
  /** Of each process that has begun; `mounts`: it does not see files under their own names. */
  readonly views: ReadonlyMap<number, { readonly mounts?: unknown }>;
  isOutside(folder: string): boolean;
}

/**
 * Drops lines about files that are certainly outside the project before they are parsed: most lines are about programs
 * and libraries. Few steps, because a trace is too short for the JIT to make more steps fast.
 */
export class Elsewhere {
  readonly #isPrintable: boolean;
  /** Calls that have not returned yet, as their first lines have them. */
  readonly #begun = new Map<number, string>();

  constructor(private readonly around: Surroundings) {
    // A name that strace escapes has more than one spelling.
    this.#isPrintable = !/[^ -~]|["\\<>]/.test(around.root);
  }

  /** The lines that must be parsed: usually the line itself, or none. */
  linesLeft(line: string): readonly string[] {
    const call = CALL.exec(line);
    if (!call) return this.#begun.size === 0 ? [line] : this.#resumed(line);
    const view = this.around.views.get(Number(call[1]));
    if (!view || view.mounts || !this.#isPrintable || line.includes(this.around.root, call[0].length)) return [line];
    if (!this.around.isOutside(call[2]!)) return [line];
    if (line.endsWith(UNFINISHED)) this.#begun.set(Number(call[1]), line);
    return NONE;
  }

  /** The result may show a file inside the project. */
  #resumed(line: string): readonly string[] {
    const pid = Number(RESUMED.exec(line)?.[1]);
    const begun = this.#begun.get(pid);
    if (begun === undefined) return [line];
    this.#begun.delete(pid);
    return line.includes(this.around.root) ? [begun, line] : NONE;
  }
}

const NONE: readonly string[] = [];
