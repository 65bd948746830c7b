import type { Failure } from '../model/failure.js';
import type { Clock } from '../util/clock.js';
import { resetTime } from './reset-time.js';
import type { Runner } from './runner.js';
import { anyOf } from './transient.js';

/** What providers and their clients say when a plan's allowance is used up for now. */
const LIMIT = anyOf([
  /usage.limit.(?:has been )?(?:reached|exceeded)/,
  /(?:hit|reached) your (?:[\w'’.-]+ ){0,4}limit\b/,
  /\b(?:\d+-hour|hourly|daily|weekly|session|opus|sonnet) limit reached/,
  /limits? will reset/,
  /out of (?:extra )?usage(?: credits)?\b/,
  /would exceed your account['’]s rate limit/,
]);

/** Credit has run out: unless a reset time is named, waiting does not help. */
const MONEY =
  /spend(?:ing)? limit|out of (?:extra )?usage|credit balance|insufficient.quota|billing|credits? required/i;

/** A runner that marks failures by a usage limit, with the time at which it resets. */
export function sayingLimits(runner: Runner, clock: Clock): Runner {
  return {
    ...runner,
    run: async (request) => {
      const result = await runner.run(request);
      return result.failure ? { ...result, failure: usageLimit(result.failure, clock.now()) } : result;
    },
  };
}

/** Marks the failure if it is a usage limit; else returns it unchanged. */
export function usageLimit(failure: Failure, now: number): Failure {
  const { code, message, detail, retryAfterMs } = failure;
  if (code !== 'runner' && code !== 'exit' && code !== 'usage-limit') return failure;
  const words = code === 'exit' ? `${message}\n${detail ?? ''}` : message;
  const isSaid = code === 'usage-limit';
  if (!isSaid && !LIMIT.test(words)) return failure;
  const asked = retryAfterMs === undefined ? undefined : now + retryAfterMs;
  const resetsAt = failure.resetsAt ?? asked ?? resetTime(words, now);
  if (!isSaid && resetsAt === undefined && MONEY.test(words)) return failure;
  return {
    code: 'usage-limit',
    message,
    transient: true,
    ...(detail !== undefined && { detail }),
    ...(resetsAt !== undefined && { resetsAt }),
  };
}
