import type { SimpleGitOptions } from 'simple-git';

export interface GitOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
  /** Lets git fetch missing objects. By default it only reads. */
  readonly mayFetch?: boolean;
}

export type GitAnswer =
  | { readonly stdout: string }
  /** In git's own words where it has some. `exitCode` is null when git was not started, or was ended by a signal. */
  | { readonly failed: string; readonly exitCode: number | null };

/** The failure where git is not installed. */
export const NO_GIT = 'git is not on the PATH';

/** Git that is silent for this long hangs. */
const SILENCE_MS = 60_000;

/** What a repository's own settings could make git execute, or hide from it, is switched off. */
const SETTINGS = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.untrackedCache=false',
  'core.trustctime=true',
  'core.checkStat=default',
];
const NO_TRANSPORT = 'protocol.allow=never';

/** The arguments are ours and the environment is the person's own: simple-git need not guard us against them. */
const ALLOWED: SimpleGitOptions['unsafe'] = {
  allowUnsafeAlias: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeFilter: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeHooksPath: true,
  allowUnsafeInclude: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeSshCommand: true,
  allowUnsafeUrlRewrite: true,
};

/** Asks git one thing. */
export async function askGit(args: readonly string[], options: GitOptions): Promise<GitAnswer> {
  const { cwd, signal, mayFetch = false } = options;
  const { simpleGit } = await import('simple-git');
  const env = environmentOf(options.env);
  let exitCode: number | null = null;
  try {
    const git = simpleGit({
      baseDir: cwd,
      config: mayFetch ? SETTINGS : [...SETTINGS, NO_TRANSPORT],
      unsafe: ALLOWED,
      allowEnvironment: Object.keys(env),
      timeout: { block: SILENCE_MS },
      // Output may come after the exit.
      completion: { onClose: true, onExit: false },
      errors: (error, result) => {
        exitCode = result.exitCode;
        return error ?? (result.exitCode === 0 ? undefined : Buffer.from(lastWords(result)));
      },
      ...(signal && { abort: signal }),
    });
    return { stdout: await git.env(env).raw([...args]) };
  } catch (error) {
    return { failed: reasonOf(error as Error), exitCode };
  }
}

/** Makes an end by a signal, which has neither a code nor a message, a failure. */
function lastWords({
  exitCode,
  stdErr,
}: {
  readonly exitCode: number | null;
  readonly stdErr: readonly Buffer[];
}): string {
  const said = Buffer.concat(stdErr).toString('utf8').trim();
  return said || (exitCode === null ? 'ended by a signal' : `status ${exitCode}`);
}

function reasonOf({ message }: Error): string {
  if (/\bspawn git ENOENT\b/.test(message)) return NO_GIT;
  const lines = message.trim().split('\n');
  return lines.find((line) => /^(?:fatal|error): /.test(line))?.replace(/^\w+: /, '') ?? lines.at(-1)!;
}

/** The user decides where a repository is and which settings hold; editors, pagers and prompts are not needed. */
const LOCATION =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE)$/;
const KEPT = /^GIT_(?:CONFIG_.+|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|SSL_.+)$/;
const REFUSED = /^(?:GIT_.+|EDITOR|VISUAL|PAGER|PREFIX|SSH_ASKPASS)$/i;

/** For a repository other than the one that the environment may name: git sets such variables for its hooks. */
export function withoutLocation(env: GitOptions['env']): GitOptions['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !LOCATION.test(name)));
}

function environmentOf(env: GitOptions['env']): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || (REFUSED.test(name) && !LOCATION.test(name) && !KEPT.test(name))) continue;
    kept[name] = value;
  }
  // English messages, no prompts, and no lock that only speeds up the next call.
  return { ...kept, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
}
