type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the usual variables name for an address: `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in lower case
 * too, which wins. This machine itself is always reached directly.
 */
export function proxyFor(address: URL, env: Environment): URL | undefined {
  const name = address.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const text = variable(env, name);
  if (text === undefined || isDirect(address, variable(env, 'no_proxy') ?? '')) return undefined;
  const url = /^\w+:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url)) return undefined;
  const proxy = new URL(url);
  return /^https?:$/.test(proxy.protocol) ? proxy : undefined;
}

function variable(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined;
}

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/;

/** `NO_PROXY`: host names, which include their subdomains, with a port or without, or `*`. */
function isDirect({ hostname, port, protocol }: URL, list: string): boolean {
  if (LOOPBACK.test(hostname)) return true;
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  return list.split(/[\s,]+/).some((each) => {
    const [, name = '', ofPort] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(each.toLowerCase()) ?? [];
    if (each === '*') return true;
    if (name === '' || (ofPort !== undefined && ofPort !== ownPort)) return false;
    return hostname === name || hostname.endsWith(`.${name}`);
  });
}

/** The header with the proxy's credentials, which never appear in a message. */
export function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': basic(pair) };
}

/** `NAME:PASSWORD` as a header has it. */
export function basic(pair: string): string {
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}
