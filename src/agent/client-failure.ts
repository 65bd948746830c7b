import type { Failure } from '../model/failure.js';
import type { ClientAdvice } from './client.js';
import type { Transcript } from './transcript.js';

/** The provider did not take the key. */
const KEY =
  /\b(?:401|403)\b|invalid.(?:x-)?api.?key|no api key|api key (?:not|missing)|unauthori[sz]ed|authenticat|log ?in/i;

/** No connection could be made at all. */
const UNREACHABLE = new RegExp(
  [
    'ECONNREFUSED|ConnectionRefused|connection refused|ENOTFOUND|EAI_AGAIN|E(?:HOST|NET)UNREACH',
    'unable to connect|error sending request|dns error',
  ].join('|'),
  'i',
);

/** A connection was made and then lost: worth another try. */
const LOST = /ECONNRESET|socket hang up|closed|terminated/i;

/** A failed connection, whether or not it had been made. */
const CONNECTION = /connection|fetch failed|socket|disconnected|terminated/i;

/**
 * The failure of a client with what to look at. Clients try again by themselves when they cannot connect, for up to
 * half a minute: trying all of that three times more would only take longer to say that the server is down.
 */
export function clientFailure(failure: Failure, transcript: Transcript, advice: ClientAdvice): Failure {
  if (failure.code !== 'runner' && failure.code !== 'exit') return failure;
  const said = transcript.error ?? failure.detail ?? '';
  if ((UNREACHABLE.test(said) && !LOST.test(said)) || (transcript.retried && CONNECTION.test(said))) {
    const { transient: _transient, ...rest } = failure;
    return { ...rest, hint: failure.hint ?? advice.server };
  }
  if (failure.transient || failure.hint !== undefined || !KEY.test(said)) return failure;
  return { ...failure, hint: advice.key };
}
