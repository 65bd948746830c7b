import { ACCESSES } from './access.js';

/** Runs a program under strace. What it looked at, in a form that `Observer` reads. */
export function straceArgv(
  argv: readonly string[],
  { strace, to, env }: { readonly strace: string; readonly to: string; readonly env: Readonly<Record<string, string>> },
): readonly string[] {
  return [
    strace,
    // The program stays our own child, with the id, the group and the end that it would have without a tracer.
    '--daemonize=session',
    '--follow-forks',
    // Only the calls that are asked for stop the program.
    '--seccomp-bpf',
    `--trace=${TRACED}`,
    // A file that is read through it could not be seen; programs do without it where it is missing, as in containers.
    '--inject=io_uring_setup:error=ENOSYS',
    '--decode-fds=path',
    '--strings-in-hex=non-ascii',
    // Arguments and link targets are nobody's business. Names of files are always whole.
    '--string-limit=0',
    '--columns=0',
    // What a stat returned would double its cost; what is there can be seen later.
    '--verbose=openat2,clone3',
    // Sandboxes have ids of their own.
    '--pidns-translation',
    // One that a process was ended by is said in any case but this.
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
