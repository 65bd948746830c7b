import type { Project } from '../../util/project.js';
import type { KnownStats } from '../files/known-stats.js';
import type { FingerprintValue } from '../identity.js';
import type { Fingerprint } from './syntax.js';

/** Starts a program and waits for it. `failed`: it could not be started, took too long, or was ended by a signal. */
export type Exec = (
  argv: readonly string[],
  cwd: string,
) => Promise<
  | { readonly stdout: Buffer; readonly exitCode: number | null; readonly stderrTail?: string }
  | { readonly failed: string }
>;

/** Shared by all sources. */
export interface SourceContext {
  readonly project: Project;
  /** The store's folder, which is no input of anything; absolute. */
  readonly stateDir: string;
  readonly exec: Exec;
  /** Ends git with the run. A function, because the run may not have begun when this is made. */
  readonly signal?: (() => AbortSignal | undefined) | undefined;
  /** Folders that were found to be inside of the project since something was last executed. */
  readonly inside: Set<string>;
  readonly stats: KnownStats;
  /** False in a dry run, which must not start what the flow says. */
  readonly runCommands: boolean;
}

export interface SourceOptions {
  /** Where a command runs; absolute. The project root unless the phase says otherwise. */
  readonly cwd: string;
  /** What the phase itself writes is no input of it: globs. */
  readonly ownOutputs: readonly string[];
}

/** A value, or why there is none this time. Never a placeholder value, which would match the next time. */
export type Resolution =
  | {
      readonly value: FingerprintValue;
      readonly warning?: string;
      /** No file matches: most likely the entry is misspelt. */
      readonly matchesNothing?: true;
    }
  | { readonly failed: string };

/** The value without its entry, which the resolver adds. */
export type SourceResult =
  | (Omit<FingerprintValue, 'entry'> & { readonly warning?: string; readonly matchesNothing?: true })
  | { readonly failed: string };

export type FingerprintSource<F extends Fingerprint = Fingerprint> = (
  fingerprint: F,
  options: SourceOptions,
  context: SourceContext,
) => Promise<SourceResult> | SourceResult;
