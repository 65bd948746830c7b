import { ACCESSES } from './access.js';

/** The argv that runs a program under strace, with output that `Observer` reads. */
export function straceArgv(
  argv: readonly string[],
  { strace, to, env }: { readonly strace: string; readonly to: string; readonly env: Readonly<Record<string, string>> },
): readonly string[] {
  return [
    strace,
    // The program stays our own child, with the same id, group and exit as without a tracer.
    '--daemonize=session',
    '--follow-forks',
    // Only the traced calls stop the program.
    '--seccomp-bpf',
    `--trace=${TRACED}`,
    // Reads through io_uring are invisible to strace; programs do without it, as they must in containers.
    '--inject=io_uring_setup:error=ENOSYS',
    '--decode-fds=path',
    '--strings-in-hex=non-ascii',
    // Do not record data. File names are always printed whole.
    '--string-limit=0',
    '--columns=0',
    // Printing the result of a stat would double its cost.
    '--verbose=openat2,clone3',
    // Sandboxes have ids of their own.
    '--pidns-translation',
    // A signal that ends a process is printed all the same, except with `--signal=none`.
    '--signal=!SIGCHLD',
    '--quiet=attach,personality',
    `--output=${to}`,
    ...Object.entries(env).map(([name, value]) => `--env=${name}=${value}`),
    '--',
    ...argv,
  ];
}

/** `?`: calls that this processor or this strace does not know are left out. */
const TRACED = Object.keys(ACCESSES)
  .map((name) => `?${name}`)
  .join(',');
