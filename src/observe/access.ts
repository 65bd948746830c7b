import { quoted, type SystemCall } from './trace-call.js';

/** Which argument of a call is the name of a file. */
export interface Named {
  readonly name: number;
  /** Which one is the folder that a relative name starts from; undefined: the working folder. */
  readonly from?: number;
}

/** What a call asks for, whether or not it succeeds. `follow`: it follows a link at the end of the name. */
export type Access =
  | { readonly type: 'open'; readonly at: Named; readonly flags: string }
  | {
      readonly type: 'stat' | 'exists' | 'execute' | 'enter' | 'truncate' | 'mark';
      readonly at: Named;
      readonly follow: boolean;
    }
  | { readonly type: 'read-link'; readonly at: Named }
  | { readonly type: 'make-folder' | 'make' | 'remove' | 'remove-folder'; readonly at: Named }
  | { readonly type: 'rename'; readonly at: Named; readonly to: Named; readonly exchange: boolean }
  | { readonly type: 'link'; readonly at: Named; readonly to: Named; readonly follow: boolean }
  | { readonly type: 'list' }
  | { readonly type: 'enter-open' }
  | { readonly type: 'start'; readonly flags: string }
  | { readonly type: 'leave-namespace'; readonly flags: string }
  | { readonly type: 'mount'; readonly flags: string }
  | { readonly type: 'pivot' }
  | { readonly type: 'beyond'; readonly what: string }
  | { readonly type: 'hindered'; readonly what: string };

const [PATH, AT] = [{ name: 0 }, { name: 1, from: 0 }] as const;
const [SECOND, AT_SECOND] = [{ name: 1 }, { name: 3, from: 2 }] as const;

function has(call: SystemCall, index: number, flag: string): boolean {
  return call.args[index]?.split('|').includes(flag) ?? false;
}

const beyond = (what: string) => (): Access => ({ type: 'beyond', what });

/** Every call that is traced, and how it is read. */
export const ACCESSES: Readonly<Record<string, (call: SystemCall) => Access>> = {
  open: (call) => ({ type: 'open', at: PATH, flags: call.args[1] ?? '' }),
  openat: (call) => ({ type: 'open', at: AT, flags: call.args[2] ?? '' }),
  openat2: (call) => ({ type: 'open', at: AT, flags: /flags=([\w|]+)/.exec(call.args[2] ?? '')?.[1] ?? '' }),
  creat: () => ({ type: 'open', at: PATH, flags: 'O_WRONLY|O_CREAT|O_TRUNC' }),
  stat: () => ({ type: 'stat', at: PATH, follow: true }),
  stat64: () => ({ type: 'stat', at: PATH, follow: true }),
  lstat: () => ({ type: 'stat', at: PATH, follow: false }),
  lstat64: () => ({ type: 'stat', at: PATH, follow: false }),
  newfstatat: (call) => ({ type: 'stat', at: AT, follow: !has(call, 3, 'AT_SYMLINK_NOFOLLOW') }),
  fstatat64: (call) => ({ type: 'stat', at: AT, follow: !has(call, 3, 'AT_SYMLINK_NOFOLLOW') }),
  statx: (call) => ({ type: 'stat', at: AT, follow: !has(call, 2, 'AT_SYMLINK_NOFOLLOW') }),
  access: () => ({ type: 'exists', at: PATH, follow: true }),
  faccessat: () => ({ type: 'exists', at: AT, follow: true }),
  faccessat2: (call) => ({ type: 'exists', at: AT, follow: !has(call, 3, 'AT_SYMLINK_NOFOLLOW') }),
  readlink: () => ({ type: 'read-link', at: PATH }),
  readlinkat: () => ({ type: 'read-link', at: AT }),
  execve: () => ({ type: 'execute', at: PATH, follow: true }),
  execveat: () => ({ type: 'execute', at: AT, follow: true }),
  getdents: () => ({ type: 'list' }),
  getdents64: () => ({ type: 'list' }),
  chdir: () => ({ type: 'enter', at: PATH, follow: true }),
  fchdir: () => ({ type: 'enter-open' }),
  mkdir: () => ({ type: 'make-folder', at: PATH }),
  mkdirat: () => ({ type: 'make-folder', at: AT }),
  mknod: () => ({ type: 'make', at: PATH }),
  mknodat: () => ({ type: 'make', at: AT }),
  symlink: () => ({ type: 'make', at: SECOND }),
  symlinkat: () => ({ type: 'make', at: { name: 2, from: 1 } }),
  rmdir: () => ({ type: 'remove-folder', at: PATH }),
  unlink: () => ({ type: 'remove', at: PATH }),
  unlinkat: (call) => ({ type: has(call, 2, 'AT_REMOVEDIR') ? 'remove-folder' : 'remove', at: AT }),
  rename: () => ({ type: 'rename', at: PATH, to: SECOND, exchange: false }),
  renameat: () => ({ type: 'rename', at: AT, to: AT_SECOND, exchange: false }),
  renameat2: (call) => ({ type: 'rename', at: AT, to: AT_SECOND, exchange: has(call, 4, 'RENAME_EXCHANGE') }),
  link: () => ({ type: 'link', at: PATH, to: SECOND, follow: false }),
  linkat: (call) => ({ type: 'link', at: AT, to: AT_SECOND, follow: has(call, 4, 'AT_SYMLINK_FOLLOW') }),
  truncate: () => ({ type: 'truncate', at: PATH, follow: true }),
  chmod: () => ({ type: 'mark', at: PATH, follow: true }),
  fchmodat: () => ({ type: 'mark', at: AT, follow: true }),
  fchmodat2: (call) => ({ type: 'mark', at: AT, follow: !has(call, 3, 'AT_SYMLINK_NOFOLLOW') }),
  chown: () => ({ type: 'mark', at: PATH, follow: true }),
  lchown: () => ({ type: 'mark', at: PATH, follow: false }),
  fchownat: (call) => ({ type: 'mark', at: AT, follow: !has(call, 4, 'AT_SYMLINK_NOFOLLOW') }),
  fork: () => ({ type: 'start', flags: '' }),
  vfork: () => ({ type: 'start', flags: '' }),
  clone: (call) => ({ type: 'start', flags: call.args.join() }),
  clone3: (call) => ({ type: 'start', flags: call.args[0] ?? '' }),
  unshare: (call) => ({ type: 'leave-namespace', flags: call.args[0] ?? '' }),
  mount: (call) => ({ type: 'mount', flags: call.args[3] ?? '' }),
  pivot_root: () => ({ type: 'pivot' }),
  chroot: beyond('a process changed its root folder'),
  move_mount: beyond('a process mounted something'),
  setns: beyond('a process entered another namespace'),
  open_by_handle_at: beyond('a process opened a file without naming it'),
  io_uring_setup: beyond('a process used io_uring'),
  ptrace: () => ({ type: 'hindered', what: 'a process cannot trace another one while it is traced' }),
};

/** The name that an argument holds; undefined where strace could not read it. */
export function nameIn(call: SystemCall, { name }: Named): string | undefined {
  return quoted(call.args[name]);
}
