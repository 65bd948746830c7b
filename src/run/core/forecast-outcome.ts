import type { Failure, ForecastWord } from '../../model/failure.js';
import { type Execution, failedBefore } from './execution.js';

/** What a dry run says of work that it does not do. */
export const WOULD_RUN = forecastOutcome('would-run', 'it would run');

/** A dry run cannot tell: a command would have to be started. */
export const MIGHT_RUN = forecastOutcome('might-run', 'it may run');

/** Another row or item, which comes first here, would run and be taken from. */
export const WOULD_BE_SHARED = forecastOutcome('would-be-shared', 'it would run once for all');

function forecastOutcome(forecast: ForecastWord, message: string): Execution {
  return failedBefore({ code: 'forecast', forecast, message });
}

/**
 * What a phase comes to of which several parts would not be done at once: it runs if one of them does, and takes all
 * of it from others only if every part is. Undefined when this is no dry run. A part without a word depends on another one.
 */
export function forecastOfParts(failures: readonly (Failure | undefined)[]): Failure | undefined {
  const words = failures.map((failure) => failure?.forecast);
  if (words.every((word) => word === undefined)) return undefined;
  if (words.includes('would-run')) return WOULD_RUN.failure;
  return (words.every((word) => word === 'would-be-shared') ? WOULD_BE_SHARED : MIGHT_RUN).failure;
}
