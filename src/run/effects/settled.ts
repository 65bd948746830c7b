import type { Failure, FailureCode } from '../../model/failure.js';

/** It did not end by itself: it was ended, and how far it had come is unknown. */
const ENDED: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'interrupted',
  'timeout',
  'idle-timeout',
  'signal',
  'limit',
  'in-doubt',
]);

/** Whether an attempt that came to this says what became of it. One without `attempts` was made. */
export function hasSettled({
  status,
  failure,
  attempts,
}: {
  readonly status?: string;
  readonly failure?: Failure;
  readonly attempts?: number;
}): boolean {
  if (status === 'done') return true;
  return attempts !== 0 && failure !== undefined && !ENDED.has(failure.code);
}
