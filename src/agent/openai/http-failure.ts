import type { IncomingMessage } from 'node:http';
import { parseObject } from '../read-event.js';
import type { Transcript } from '../transcript.js';
import { isTransientStatus } from '../transient.js';
import { askedPause } from './asked-pause.js';
import { errorText } from './fold.js';

/** The fields of a transcript that describe a failure. */
type Reported = Required<Pick<Transcript, 'error' | 'transient'>> &
  Pick<Transcript, 'hint' | 'retryAfterMs' | 'limited' | 'resetsAt' | 'unasked'>;

/** An answer with a status other than success. */
export function statusFailure(
  response: Pick<IncomingMessage, 'statusCode' | 'headers'>,
  body: string,
  keyName: string | undefined,
): Reported {
  const status = response.statusCode ?? 0;
  const { location } = response.headers;
  const moved = location === undefined ? '' : ` (moved to ${location})`;
  const hint = hintFor(status, keyName);
  return {
    error: `HTTP ${status}${moved}: ${messageOf(body)}`,
    transient: isTransientStatus(status, body),
    ...(hint !== undefined && { hint }),
    ...askedPause(status, response.headers, body),
  };
}

/** A connection that could not be made, or was lost. */
export function connectionFailure(error: unknown, url: string): Reported {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const host = hostOf(url);
  switch (code) {
    case 'ECONNREFUSED':
      return {
        error: `no server answers at ${host}`,
        transient: true,
        hint: `is the server running, and is \`baseUrl\` (${baseOf(url)}) right?`,
        unasked: true,
      };
    case 'ENOTFOUND':
      return {
        error: `there is no host ${host}`,
        transient: false,
        hint: `check \`baseUrl\` (${baseOf(url)})`,
        unasked: true,
      };
    case 'ERR_INVALID_URL':
    case 'ERR_INVALID_PROTOCOL':
      return { error: `not an address: ${url}`, transient: false, hint: 'check `baseUrl`', unasked: true };
    case 'ERR_INVALID_CHAR':
      return { error: 'the API key holds characters that a header cannot', transient: false, unasked: true };
    default:
      // Certificate and protocol errors are lasting; everything else is the network.
      return {
        error: `connection to ${host} lost (${code || message})`,
        transient: !/CERT|SSL|TLS|SELF_SIGNED|^HPE_/.test(code),
      };
  }
}

function hintFor(status: number, keyName: string | undefined): string | undefined {
  if (status === 401 || status === 403) {
    return keyName === undefined
      ? 'the server wants a key: name the variable that holds it in `apiKeyEnv`'
      : `is ${keyName} set, and a key of this server (\`baseUrl\`)?`;
  }
  return status === 404 ? 'check `baseUrl` and `model`' : undefined;
}

function messageOf(body: string): string {
  const value = parseObject(body);
  if (value) return errorText(value['error'] ?? value);
  return body.trim().split('\n', 1)[0]?.slice(0, 300) || 'no explanation';
}

/** The address as in the settings, without user name and password. */
function baseOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname.replace(/\/(?:chat\/completions|models)$/, '')}`;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
