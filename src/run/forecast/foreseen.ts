import type { Failure } from '../../model/failure.js';
import { type Execution, failedBefore } from '../core/execution.js';

/** What a dry run says of work that it does not do. */
export const WOULD_RUN = failedBefore({ code: 'forecast', message: 'it would run' });

/** A dry run cannot tell: a command would have to be started. */
export const MIGHT_RUN = failedBefore({ code: 'forecast', message: 'it may run' });

/** Another row or item, which comes first here, would run and be taken from. */
export const WOULD_BE_SHARED = failedBefore({ code: 'forecast', message: 'it would run once for all' });

export type Foreseen = 'run' | 'shared' | 'unknown';

const WORDS: readonly (readonly [Execution, Foreseen])[] = [
  [WOULD_RUN, 'run'],
  [MIGHT_RUN, 'unknown'],
  [WOULD_BE_SHARED, 'shared'],
];

/** By what it says, not by what it is: a failure is copied on its way out of a nested flow. */
export function foreseen(failure: Failure | undefined): Foreseen | undefined {
  if (failure?.code !== 'forecast') return undefined;
  return WORDS.find(([{ failure: known }]) => known!.message === failure.message)?.[1];
}

/**
 * What a phase comes to of which several parts would not be done at once: it runs if one of them does, and takes all of it
 * from others only if every part is. Undefined when this is no dry run. A part without a word depends on another one.
 */
export function foreseenOfParts(failures: readonly (Failure | undefined)[]): Failure | undefined {
  const words = failures.map(foreseen);
  if (words.every((word) => word === undefined)) return undefined;
  if (words.includes('run')) return WOULD_RUN.failure;
  return (words.every((word) => word === 'shared') ? WOULD_BE_SHARED : MIGHT_RUN).failure;
}
