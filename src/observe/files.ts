import { lstatIfThere, statIfThere } from '../util/stat.js';
import { type Access, type Named, nameIn } from './access.js';
import { AccessLedger } from './ledger.js';
import { isLeftOut } from './left-out.js';
import type { Mounts } from './mounts.js';
import { ProjectPaths } from './project-paths.js';
import { startOf } from './shebang.js';
import { DELETED, fileArgument, NOT_UTF8, type SystemCall } from './trace-call.js';

interface FilesOptions {
  readonly root: string;
  /** When the first process was started, by the clock of the file system. */
  readonly startedAt: number;
  readonly all?: boolean;
}

/** What a process's file names depend on. Threads share it. */
export interface View {
  /** Its working folder; undefined: not known. */
  cwd: string | undefined;
  /** Undefined: it sees the same mounts as we do. */
  mounts?: Mounts | undefined;
}

/** Behind these, a process finds files by other names than their own. */
const THROUGH_PROCESS = /^\/proc\/(?:self|thread-self|\d+)\/(?:task\/\d+\/)?(?:cwd|root|fd\/\d+)\//;
/** Folders without files, except for `/dev/shm`, where a project may be. */
const SYSTEM = /^\/(?:proc|sys|dev)\/(?!shm\/)/;
const SETS_USER_OR_GROUP = 0o6000;

/** A file that is named in a call. */
interface Target {
  /** Relative to the root; undefined: it does not count. */
  readonly path?: string;
  readonly absolute: string;
}

/** Turns single calls into what they say about the project's files. */
export class Files {
  readonly ledger = new AccessLedger();
  readonly paths: ProjectPaths;
  readonly #programs = new Set<string>();

  constructor(
    private readonly options: FilesOptions,
    private readonly cannotFollow: (why: string, trouble?: 'hindered') => void,
  ) {
    this.paths = new ProjectPaths(options.root);
  }

  get root(): string {
    return this.options.root;
  }

  /** Returns where a process is after it entered another folder. */
  record(call: SystemCall, access: FileAccess, view: View): string | undefined {
    if (access.type === 'list') {
      if (call.error === undefined) this.#listed(call, view);
      return undefined;
    }
    if (access.type === 'beyond' || access.type === 'hindered') {
      // The call fails because of the tracer.
      if (access.type === 'hindered') this.cannotFollow(access.what, 'hindered');
      else if (call.error === undefined) this.cannotFollow(access.what);
      return undefined;
    }
    if (access.type === 'rename' || access.type === 'link') {
      this.#two(call, access, view);
      return undefined;
    }
    const named = this.absolute(call, access.at, view);
    const absolute = realIn(view, named);
    if (access.type === 'enter' && view.mounts && call.error === undefined) return named;
    if (absolute === undefined) return undefined;
    if (access.type === 'open') this.#opened(call, { absolute, view }, new Set(access.flags.split('|')));
    else if (call.error !== undefined) this.#failed(call.error, access, absolute);
    else return this.#done(access, absolute);
    return undefined;
  }

  #listed(call: SystemCall, view: View): void {
    const folder = fileArgument(call.args[0]);
    const real = folder?.deleted ? undefined : realIn(view, folder?.path);
    const path = real === undefined ? undefined : this.#counted(real);
    if (path !== undefined) this.ledger.list(path);
  }

  #done(access: OneFile, absolute: string): string | undefined {
    switch (access.type) {
      case 'stat':
        // A stat counts as reading the content: `make`, `git status` and `tsc` decide by size and time.
        this.#with(this.#target(absolute, access.follow), (path) => this.ledger.read(path));
        break;
      case 'exists':
        this.#with(this.#target(absolute, access.follow), (path) => this.ledger.present(path));
        break;
      case 'execute':
        this.#executed(absolute);
        break;
      case 'enter': {
        const target = this.#target(absolute, true);
        this.#with(target, (path) => this.ledger.presentFolder(path));
        return target.absolute;
      }
      case 'truncate':
        this.#with(this.#target(absolute, true), (path) => this.ledger.change(path));
        break;
      case 'mark':
        this.#with(this.#target(absolute, access.follow), (path) => this.ledger.mark(path));
        break;
      case 'read-link':
        this.#with(this.#target(absolute, false), (path) => this.ledger.readLink(path));
        break;
      default:
        this.#with(this.#target(absolute, false), (path) => this.#madeOrRemoved(access.type, path));
    }
    return undefined;
  }

  #madeOrRemoved(type: 'make' | 'make-folder' | 'remove' | 'remove-folder', path: string): void {
    this.paths.changed(path);
    if (type === 'make') this.ledger.make(path, true);
    else if (type === 'make-folder') this.ledger.makeFolder(path);
    else this.ledger.remove(path);
  }

  #executed(absolute: string): void {
    const target = this.#target(absolute, true);
    this.#with(target, (path) => this.ledger.read(path));
    if (this.#programs.has(target.absolute)) return;
    this.#programs.add(target.absolute);
    const { mode = 0 } = statIfThere(target.absolute) ?? {};
    if ((mode & SETS_USER_OR_GROUP) !== 0 && process.getuid?.() !== 0) {
      this.cannotFollow(`${absolute} cannot get the rights it asks for while it is traced`, 'hindered');
    }
    if (target.path === undefined) return;
    const start = startOf(target.absolute);
    // The kernel opens the interpreter itself.
    if (typeof start === 'object' && start.interpreter.startsWith('/')) this.#executed(start.interpreter);
  }

  #opened(call: SystemCall, { absolute, view }: { absolute: string; view: View }, flags: ReadonlySet<string>): void {
    if (call.error !== undefined) {
      const creates = flags.has('O_CREAT') && call.error === 'ENOENT';
      // Creating a file can only miss its folder.
      this.#failed(call.error, { type: 'open', follow: true }, creates ? parentOf(absolute) : absolute);
      return;
    }
    if (flags.has('O_TMPFILE')) return;
    const target = this.#openTarget(realIn(view, call.path), absolute);
    if (target.path === undefined) return;
    const { path } = target;
    const { ledger } = this;
    if (flags.has('O_PATH')) ledger.present(path);
    else if (flags.has('O_DIRECTORY')) ledger.presentFolder(path);
    else if (flags.has('O_CREAT') && (flags.has('O_EXCL') || this.#isNew(path))) ledger.make(path, true);
    else if (flags.has('O_TRUNC')) ledger.make(path, false);
    else if (flags.has('O_WRONLY') || flags.has('O_RDWR')) ledger.change(path);
    else ledger.read(path);
  }

  /** The kernel reports the file that was opened; the name shows which links led there. */
  #openTarget(real: string | undefined, absolute: string): Target {
    if (!real?.startsWith('/')) return this.#target(absolute, true);
    const named = this.paths.placeOf(absolute, false);
    const isLink = (named.path === undefined ? absolute : `${this.root}/${named.path}`) !== real;
    this.#links(isLink ? this.paths.placeOf(absolute, true).links : named.links);
    const path = this.#counted(real);
    return path === undefined ? { absolute: real } : { absolute: real, path };
  }

  /** Whether this call made the file. A file that is gone already was short-lived, so it was made here. */
  #isNew(path: string): boolean {
    const stat = lstatIfThere(`${this.root}/${path}`);
    return !stat || stat.birthtimeMs > this.options.startedAt;
  }

  #two(call: SystemCall, access: Access & { type: 'rename' | 'link' }, view: View): void {
    const from = realIn(view, this.absolute(call, access.at, view));
    const to = realIn(view, this.absolute(call, access.to, view));
    if (from === undefined || to === undefined) return;
    if (call.error !== undefined) {
      const isOfNew = call.error === 'EEXIST' || call.error === 'ENOTEMPTY';
      this.#failed(call.error, access, isOfNew ? to : from);
      return;
    }
    const old = this.#target(from, access.type === 'link' && access.follow).path;
    const now = this.#target(to, false).path;
    for (const path of [old, now]) if (path !== undefined) this.paths.changed(path);
    if (access.type === 'link') {
      if (old !== undefined) this.ledger.read(old);
      if (now !== undefined) this.ledger.make(now, true);
    } else if (access.exchange) {
      for (const path of [old, now]) if (path !== undefined) this.ledger.change(path);
    } else {
      this.#renamed(old, now, to);
    }
  }

  #renamed(from: string | undefined, to: string | undefined, absolute: string): void {
    const isFolder = lstatIfThere(absolute)?.isDirectory() ?? false;
    if (from !== undefined && to !== undefined) this.ledger.move(from, to, isFolder);
    else if (from !== undefined) this.ledger.change(from);
    else if (to !== undefined && isFolder) this.ledger.makeFolder(to);
    else if (to !== undefined) this.ledger.make(to, false);
  }

  #failed(error: string, access: { readonly type: string; readonly follow?: boolean }, absolute: string): void {
    const target = this.#target(absolute, access.follow === true && error !== 'ELOOP' && error !== 'EEXIST');
    this.#with(target, (path) => {
      if (error === 'ENOENT' || error === 'ENOTDIR') this.ledger.absent(path);
      else if (error === 'ELOOP') this.ledger.readLink(path);
      else if (error === 'ENOTEMPTY') this.ledger.list(path);
      else if (error === 'EACCES' && access.type !== 'exists') this.cannotFollow(`${path} may not be read`);
      else if (SEEN.has(error)) this.ledger.present(path);
    });
  }

  /** Undefined: the name starts in a folder that is gone or unknown. */
  absolute(call: SystemCall, at: Named, view: View): string | undefined {
    const name = nameIn(call, at);
    const from = at.from === undefined ? undefined : fileArgument(call.args[at.from]);
    const folder = from && !from.isCwd ? from : this.#currentFolder(from?.path, view);
    if (name === undefined) {
      if (call.error === undefined) this.cannotFollow('a file name in the trace cannot be read');
      return undefined;
    }
    if (THROUGH_PROCESS.test(name) && !/^open/.test(call.name)) this.cannotFollow(`a file was named as ${name}`);
    if (name.startsWith('/')) return name;
    if (folder.deleted) return undefined;
    // A pipe or a socket has no path.
    if (folder.path === undefined && from && !from.isCwd) return undefined;
    if (folder.path === undefined) {
      this.cannotFollow('the trace does not say in which folder a process was');
      return undefined;
    }
    return name === '' ? folder.path : `${folder.path === '/' ? '' : folder.path}/${name}`;
  }

  /** What the trace says counts; else the folder that we remember. */
  #currentFolder(said: string | undefined, view: View): { path?: string | undefined; deleted: boolean } {
    if (said === undefined) return { path: view.cwd, deleted: false };
    if (!said.endsWith(DELETED)) view.cwd = said;
    else if (said === `${view.cwd}${DELETED}`) return { deleted: true };
    else this.cannotFollow('a process worked in a folder that was removed');
    return { path: view.cwd, deleted: false };
  }

  #target(absolute: string, follow: boolean): Target {
    if (SYSTEM.test(absolute)) return { absolute };
    const { real, path, links } = this.paths.placeOf(absolute, follow);
    this.#links(links);
    const counted = path === undefined ? undefined : this.#counts(path);
    return counted === undefined ? { absolute: real } : { absolute: real, path: counted };
  }

  #links(links: readonly string[]): void {
    for (const link of links) if (this.#counts(link) !== undefined) this.ledger.readLink(link);
  }

  #with({ path }: Target, then: (path: string) => void): void {
    if (path !== undefined) then(path);
  }

  #counted(absolute: string): string | undefined {
    const path = this.paths.realPlace(absolute);
    if (path?.endsWith(DELETED) && !lstatIfThere(absolute)) this.cannotFollow('a file was removed while it was read');
    return path === undefined ? undefined : this.#counts(path);
  }

  #counts(path: string): string | undefined {
    if (!this.options.all && isLeftOut(path)) return undefined;
    if (!path.includes(NOT_UTF8)) return path;
    this.cannotFollow('the name of a file is not UTF-8');
    return undefined;
  }
}

type FileAccess = Exclude<
  Access,
  { type: 'start' } | { type: 'enter-open' } | { type: 'leave-namespace' } | { type: 'mount' } | { type: 'pivot' }
>;
type OneFile = Exclude<
  FileAccess,
  | { type: 'open' }
  | { type: 'list' }
  | { type: 'beyond' }
  | { type: 'hindered' }
  | { type: 'rename' }
  | { type: 'link' }
>;

/** Errors that mean that the path exists. */
const SEEN = new Set([
  'EEXIST',
  'EISDIR',
  'EINVAL',
  'EXDEV',
  'ETXTBSY',
  'ENOEXEC',
  'EBUSY',
  'EROFS',
  'EPERM',
  'EACCES',
]);

/** Where a path of a process really is; undefined: not on our disk. */
function realIn({ mounts }: View, path: string | undefined): string | undefined {
  return path === undefined || !mounts || !path.startsWith('/') ? path : mounts.real(path);
}

function parentOf(absolute: string): string {
  return absolute.slice(0, Math.max(1, absolute.lastIndexOf('/')));
}
