import type { Hooks } from './hooks.js';
import type { JsonValue } from './json.js';
import { DEFAULT_LIMITS, type Limits } from './limits.js';
import type { Observing } from './observation.js';

/** Settings after the project's file, the user's file and the defaults have been laid over each other. */
export interface Config {
  readonly runner?: string;
  readonly model?: string;
  readonly thinking?: string;
  /** The model for each role, such as `model: "{{strong}}"` in a flow. */
  readonly models: Readonly<Record<string, string>>;
  readonly concurrency?: number;
  readonly runners: Readonly<Record<string, RunnerConfig>>;
  readonly cache: {
    readonly maxBytes: number;
    readonly maxEntries: number;
    readonly maxAgeMs: number;
    /** Absolute, or relative to the project root. */
    readonly dir: string;
    /** Set where the user's own settings, or a program, name the folder: only then may it be outside the project. */
    readonly dirFrom?: 'user';
    readonly signingKey?: SecretSource;
    /** A store that machines share, behind the local one. */
    readonly remote?: RemoteConfig;
    /** Whose shared entries are accepted. */
    readonly trust?: TrustConfig;
    /** The default for phases; its globs are added to those of a phase. */
    readonly observe: Observing;
  };
  /** `always`: also continues a run that succeeded; `off`: continues none by itself. */
  readonly iteration: { readonly mode: 'always' | 'auto' | 'off'; readonly ttlMs: number };
  readonly limits: Limits;
  readonly hooks?: Hooks;
  readonly workers?: WorkersConfig;
}

/** Machines that execute units of runs. */
export interface WorkersConfig {
  /** `redis://…`, `rediss://…`, or `env:NAME` for the variable that holds it. */
  readonly url?: string;
  /** A worker that is silent for this long loses its units. */
  readonly lockMs?: number;
  /** How long to wait for a queue that does not answer. */
  readonly waitMs?: number;
  /** Units that workers may have at the same time. */
  readonly concurrency?: number;
}

/** Where a secret is: in a variable of the environment, or in a file. */
export type SecretSource = { readonly env: string } | { readonly file: string };

export interface RemoteConfig {
  /** `http(s)://…`, `s3://bucket/prefix` or `turbo+https://…`. */
  readonly url: string;
  /** Default: true. */
  readonly read?: boolean;
  /** `auto`, the default: only where a signing key is at hand. */
  readonly write?: boolean | 'auto';
  readonly token?: SecretSource;
  /** Address of the S3 server. */
  readonly endpoint?: string;
  readonly connectTimeoutMs?: number;
  readonly timeoutMs?: number;
  /** How long the end of a run waits for uploads. */
  readonly uploadWaitMs?: number;
  /** How long to wait for another machine that computes the same; 0: no claims. */
  readonly claimWaitMs?: number;
  /** The project chose where the token goes, and the user has not allowed that: nothing is sent. */
  readonly keyNeedsLeave?: true;
}

export interface TrustConfig {
  /** Accepts entries without a signature. */
  readonly mode?: 'none';
  /** The Ed25519 private key that signs what is uploaded. */
  readonly sign?: SecretSource;
  /** Public keys by name, in base64. */
  readonly keys: Readonly<Record<string, string>>;
}

/** One named runner. Which fields mean something depends on `type`; the configuration is checked when it is loaded. */
export interface RunnerConfig {
  readonly type: 'pi' | 'claude' | 'codex' | 'openai' | 'command';
  readonly provider?: string;
  readonly model?: string;
  readonly thinking?: string;
  /** Further arguments for a built-in client. */
  readonly args?: readonly string[];
  /** For built-in clients: the program to start instead of the one on PATH. For `command`: the whole argv. */
  readonly command?: readonly string[];
  readonly format?: 'text' | 'json';
  readonly version?: string;
  /** Names of environment variables that the program gets. */
  readonly env?: readonly string[];
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  /** The project chose where the key goes, and the user has not allowed that: it is not sent. */
  readonly keyNeedsLeave?: true;
  readonly pinVersion?: boolean;
  readonly concurrency?: number;
  readonly ratePerMinute?: number;
}

/** Clients that can be named without being configured. */
export const BUILT_IN_RUNNERS = ['pi', 'claude', 'codex'] as const;

/** Every runner name that is valid where the settings define these. */
export function knownRunners(defined: Iterable<string>): readonly string[] {
  return [...new Set<string>([...BUILT_IN_RUNNERS, ...defined])];
}

/** The message about an unknown runner. */
export function noSuchRunner(
  name: string,
  known: readonly string[],
): { readonly message: string; readonly hint: string } {
  return {
    message: `there is no runner ${JSON.stringify(name)}`,
    hint: `known: ${known.join(', ')}; others are defined under "runners" in .pi/taskflows/config.yaml`,
  };
}

const ROLE = /^\s*\{\{\s*([A-Za-z][\w-]*)\s*\}\}\s*$/;

/** The role that a model is written as: `strong` of `{{strong}}`; undefined for a model's own name. */
export function modelRole(model: string): string | undefined {
  return ROLE.exec(model)?.[1];
}

/** The message about a role that the settings do not map to a model. */
export function noSuchRole(role: string): { readonly message: string; readonly hint: string } {
  return {
    message: `no model is set for the role {{${role}}}`,
    hint: `say which one it is: taskflow config set models.${role} MODEL`,
  };
}

/** Where a value came from, for `config list`. */
export interface ConfigValue {
  readonly key: string;
  readonly value: JsonValue;
  readonly source: 'default' | 'user' | 'project';
  readonly file?: string;
}

/** The model roles that the settings define. */
export function definedRoles(values: readonly Pick<ConfigValue, 'key'>[]): readonly string[] {
  return values.flatMap(({ key }) => /^models\.(.+)$/.exec(key)?.[1] ?? []);
}

/** Names of the runners that the settings define, whether or not each is complete. */
export function definedRunners(values: readonly Pick<ConfigValue, 'key'>[]): readonly string[] {
  return values.flatMap(({ key }) => /^runners\.([^.]+)\./.exec(key)?.[1] ?? []);
}

export const CONFIG_DEFAULTS: Config = {
  models: {},
  runners: {},
  cache: {
    maxBytes: 1024 ** 3,
    maxEntries: 200_000,
    maxAgeMs: 90 * 24 * 3_600_000,
    dir: '.pi/taskflows/cache',
    observe: { mode: 'auto', exclude: [], include: [] },
  },
  iteration: { mode: 'auto', ttlMs: 24 * 3_600_000 },
  limits: DEFAULT_LIMITS,
};
