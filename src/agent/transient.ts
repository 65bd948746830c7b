/** Failures that stay, whatever else the message says. */
const LASTING = anyOf([
  /insufficient.quota/,
  /exceeded your (?:current )?quota/,
  /billing/,
  /credit balance/,
  /usage limit/,
  /spend(?:ing)? limit/,
  /context.(?:length|window)/,
  /prompt is too long/,
  /invalid.api.key/,
  /authenticat/,
  /unauthori[sz]ed/,
  /permission.denied/,
]);

const PASSING = anyOf([
  /\b(?:408|425|429|500|502|503|504|520|521|522|523|524|529)\b/,
  /rate.?limit/,
  /too many requests/,
  /overloaded/,
  /server.?(?:_|\s)?error/,
  /bad gateway/,
  /unavailable/,
  /time[d-]? ?-?out/,
  /connection/,
  /disconnected/,
  /network error/,
  /socket/,
  /hang up/,
  /fetch failed/,
  /terminated/,
  /stream (?:closed|ended|error)/,
  /ECONN\w+/,
  /ETIMEDOUT/,
  /EPIPE/,
  /EAI_AGAIN/,
  /ENETUNREACH/,
  /EHOSTUNREACH/,
  /UND_ERR/,
  /high demand/,
  /temporar/,
]);

export function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'i');
}

/** Whether the same call may succeed later, by the words of a client's error. */
export function isTransientMessage(message: string): boolean {
  return PASSING.test(message) && !LASTING.test(message);
}

/** The same for the status of an HTTP answer, and what its body says. */
export function isTransientStatus(status: number, body: string): boolean {
  if (LASTING.test(body)) return false;
  if (status === 408 || status === 425 || status === 429) return true;
  // Not implemented, version not supported: these stay.
  return status >= 500 && status !== 501 && status !== 505;
}
