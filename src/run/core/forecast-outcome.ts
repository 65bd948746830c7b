import type { Failure, ForecastWord } from '../../model/failure.js';
import { type Execution, failedBefore } from './execution.js';

/** What a dry run says of work that it does not do. */
export const WOULD_RUN = forecastOutcome('would-run', 'it would run');

/** A dry run cannot tell: a command would have to be started. */
export const MIGHT_RUN = forecastOutcome('might-run', 'it may run');

/** Another row or item, which comes first, would run, and this one would reuse its result. */
export const WOULD_BE_SHARED = forecastOutcome('would-be-shared', 'it would run once for all');

function forecastOutcome(forecast: ForecastWord, message: string): Execution {
  return failedBefore({ code: 'forecast', forecast, message });
}

/**
 * The forecast of a phase from those of its parts: it would run if one of them would, and is shared only if all are. A
 * part without a forecast depends on another one. Undefined when no part has one.
 */
export function forecastOfParts(failures: readonly (Failure | undefined)[]): Failure | undefined {
  const words = failures.map((failure) => failure?.forecast);
  if (words.every((word) => word === undefined)) return undefined;
  if (words.includes('would-run')) return WOULD_RUN.failure;
  return (words.every((word) => word === 'would-be-shared') ? WOULD_BE_SHARED : MIGHT_RUN).failure;
}
