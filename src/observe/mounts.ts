import { normalize } from 'node:path';

interface Mount {
  /** Where it is, as the processes see it. */
  readonly at: string;
  /** The real path; undefined: nothing on our disk, such as an empty file system in memory. */
  readonly source: string | undefined;
}

/**
 * Maps the paths of processes in their own mount namespace to real ones: a sandbox shows the same files, mostly under
 * the same names, and hides some.
 */
export class Mounts {
  #all: readonly Mount[];

  constructor(all: readonly Mount[] = [{ at: '/', source: '/' }]) {
    this.#all = all;
  }

  copy(): Mounts {
    return new Mounts(this.#all);
  }

  /** The real path behind one that a process uses; undefined: it is not on our disk. */
  real(path: string): string | undefined {
    const named = plain(path);
    let best: Mount | undefined;
    for (const mount of this.#all) {
      if (isBelow(named, mount.at) && mount.at.length >= (best?.at.length ?? 0)) best = mount;
    }
    return best?.source === undefined ? undefined : joined(best.source, rest(named, best.at));
  }

  /** Mounts a file system that is not on our disk. */
  cover(path: string): void {
    this.#all = [...this.#all, { at: plain(path), source: undefined }];
  }

  /** Shows the same files at another place, with the mounts below them. */
  bind(from: string, to: string): void {
    const [source, target] = [plain(from), plain(to)];
    const inner = this.#all.filter(({ at }) => at !== source && isBelow(at, source));
    const moved = inner.map((mount) => ({ ...mount, at: joined(target, rest(mount.at, source)) }));
    this.#all = [...this.#all, { at: target, source: this.real(source) }, ...moved];
  }

  /** `root` becomes `/`; the former `/` is seen at `old`, if that is another place. */
  pivot(root: string, old: string): void {
    const [top, kept] = [plain(root), plain(old)];
    const inside = this.#all.filter(({ at }) => isBelow(at, top));
    const here = { at: '/', source: this.real(top) };
    const outside = kept === top ? [] : this.#all.filter(({ at }) => !isBelow(at, top));
    this.#all = [
      here,
      ...inside.map((mount) => ({ ...mount, at: joined('/', rest(mount.at, top)) })),
      ...outside.map((mount) => ({ ...mount, at: joined(joined('/', rest(kept, top)), mount.at) })),
    ];
  }
}

function plain(path: string): string {
  const named = normalize(path);
  return named.length > 1 && named.endsWith('/') ? named.slice(0, -1) : named;
}

function isBelow(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}

function rest(path: string, folder: string): string {
  return folder === '/' ? path : path.slice(folder.length);
}

function joined(folder: string, below: string): string {
  return plain(`${folder}/${below}`);
}
