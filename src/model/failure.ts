/** An expected problem in a run: a value, never an exception. `code` is closed so that surfaces can explain each. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
  /** What to do next. */
  readonly hint?: string;
  /** The end of the error stream of the process or agent; of a script with an empty one, the end of stdout. */
  readonly detail?: string;
  /** The same call may succeed later (429, 5xx, connection lost). */
  readonly transient?: boolean;
  /** How long the provider asked to wait. */
  readonly retryAfterMs?: number;
  /** With the code `usage-limit`: when calls are let through again (ms since the epoch), where the provider said so. */
  readonly resetsAt?: number;
  /** With the code `forecast`: what a dry run found. */
  readonly forecast?: ForecastWord;
}

export type ForecastWord = 'would-run' | 'might-run' | 'would-be-shared';

export type FailureCode =
  | 'exit' // a process ended with a status other than 0
  | 'signal' // a process was ended by a signal that was not ours
  | 'spawn' // a program could not be started
  | 'timeout'
  | 'idle-timeout'
  | 'runner' // an agent's client or its model reported an error
  | 'usage-limit' // the allowance of an account is used up for now, see `resetsAt`
  | 'no-runner' // no agent client is installed or configured
  | 'length' // the answer was cut by a token limit
  | 'refusal'
  | 'empty' // an agent said nothing
  | 'not-json'
  | 'expect' // the output does not meet its contract
  | 'unresolved' // a placeholder had no value
  | 'bad-input' // `over` is no list, arguments of a sub-flow do not fit, a context file is missing …
  | 'bad-flow' // a nested or generated flow has problems
  | 'limit' // a bound of the language was passed
  | 'items' // items or branches failed
  | 'nested' // the nested flow failed
  | 'blocked' // a gate said no
  | 'rejected' // a person said no
  | 'dependency' // something it needs failed
  | 'budget'
  | 'frozen' // --frozen, and the phase would have to run
  | 'interrupted'
  | 'io'
  | 'forecast' // a dry run: it was not done, see `forecast`
  | 'in-doubt' // a non-idempotent phase was under way when an earlier process died
  | 'internal';

/** What a paused phase or run waits for, by the failure that it reports. */
export function waitsFor(failure: { readonly code: string } | undefined): string {
  return failure?.code === 'usage-limit' ? 'a usage limit to reset' : 'an approval';
}
