import type { RunnerConfig } from '../model/config.js';
import type { RunnerRequest } from './runner.js';
import type { Transcript } from './transcript.js';

type Variables = Readonly<Record<string, string | undefined>>;

/** A process to start for one request. */
export interface ClientCommand {
  readonly argv: readonly string[];
  readonly input?: string;
  /** Laid over the request's environment; undefined unsets. */
  readonly env: Variables;
  /** Defaults, which the person's environment overrides. */
  readonly defaults?: Variables;
}

export interface ClientAdvice {
  readonly key: string;
  readonly server: string;
}

/** One agent client: what to start, and how to read what it prints. Both are pure. */
export interface Client {
  readonly type: 'pi' | 'claude' | 'codex';
  readonly reportsCost: boolean;
  build(request: RunnerRequest, config: RunnerConfig): ClientCommand;
  fold(transcript: Transcript, line: string): Transcript;
  /** Its own variables, without which it cannot work: names, or beginnings of names (`CODEX_*`). */
  readonly variables: readonly string[];
  /** How to get it. */
  readonly install: string;
  /** What to check when the provider refuses the key or does not answer. */
  readonly advice: ClientAdvice;
}
