import type { ErrnoError } from '../util/atomic-write.js';
import { unwritableFolder, whyUnwritable } from '../util/why-unwritable.js';
import { prepareFolder } from './folder.js';
import type { StoreOptions } from './options.js';

/** Conditions that last as long as the run. Others, such as EMFILE, pass. */
const LASTING = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'EEXIST', 'ELOOP', 'ENAMETOOLONG']);

/** Finds out by writing whether the folder can be written. If not: one warning, and the run goes on without a store. */
export class FolderAccess {
  readonly dir: string;
  readonly #options: Pick<StoreOptions, 'dir' | 'onWarning'>;
  #prepared = false;
  #isNew = false;
  #unusable: string | undefined;
  #warned = false;

  constructor(options: Pick<StoreOptions, 'dir' | 'onWarning'>) {
    this.dir = options.dir;
    this.#options = options;
  }

  /** There was no folder before. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** Before a write: why there is no folder to write to; undefined when there is one. */
  problem(): string | undefined {
    if (this.#unusable !== undefined || this.#prepared) return this.#unusable;
    const folder = prepareFolder(this.dir);
    if ('failed' in folder) return this.report(folder.failed);
    this.#prepared = true;
    this.#isNew ||= folder.isNew;
    return undefined;
  }

  /** After a failed write: returns the reason, warns the first time, and gives up where it would fail again. */
  report(error: ErrnoError): string {
    const reason = `cannot write to the cache: ${explain(error, this.dir)}`;
    if (error.code !== undefined && LASTING.has(error.code)) this.#unusable = reason;
    // Another process removed the folder: make it again next time.
    if (error.code === 'ENOENT') this.#prepared = false;
    if (!this.#warned) {
      this.#warned = true;
      this.#options.onWarning?.(`${reason}; going on without it`);
    }
    return reason;
  }
}

function explain(error: ErrnoError, dir: string): string {
  if (error.code === 'EMFILE' || error.code === 'ENFILE') return 'too many open files';
  if (error.code === 'EISDIR') return `there is a folder in the place of a file (${error.message})`;
  return unwritableFolder(dir) ?? whyUnwritable(error);
}
