/** Where a queue is; `shown` is without credentials. */
export interface QueueAddress {
  readonly url: string;
  readonly shown: string;
}

interface Problem {
  readonly problem: string;
  readonly hint: string;
}

const SCHEMES = /^rediss?:$/;
const EXAMPLE = 'such as redis://127.0.0.1:6379, or env:NAME for the variable that holds it';

/** From `redis://…`, `rediss://…` or `env:NAME`, which keeps a password out of command lines and settings files. */
export function queueAddress(
  written: string,
  env: Readonly<Record<string, string | undefined>>,
): QueueAddress | Problem {
  const [, name] = /^env:(\w+)$/.exec(written) ?? [];
  const text = name === undefined ? written : env[name];
  if (text === undefined || text === '')
    return { problem: `${name} is not set`, hint: 'it is to hold the address of the queue' };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !SCHEMES.test(url.protocol) || url.hostname === '') {
    return { problem: `${name ?? 'that'} is no address of a queue`, hint: EXAMPLE };
  }
  if (name === undefined && (url.password !== '' || url.searchParams.has('password'))) {
    return { problem: 'the address of the queue has a password in it', hint: 'put it into a variable: env:NAME' };
  }
  return { url: text, shown: `${url.protocol}//${url.host}${url.pathname}` };
}
