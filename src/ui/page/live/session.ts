/** The token in an address, which the page removes. */
const TOKEN = /^#([\w-]{43})$/;

export interface Session {
  readonly readOnly: boolean;
}

/** Why there is no session: no valid token or cookie, or no answer from the server. */
export type NoSession = 'locked' | 'away';

/** Exchanges the address's token for a cookie, once; or goes on with the cookie that this browser has. */
export async function openSession(): Promise<Session | NoSession> {
  const token = TOKEN.exec(location.hash)?.[1];
  // Removed from the address and the history before anything else can read it.
  if (token !== undefined) history.replaceState(null, '', '/#/');
  try {
    const response = token === undefined ? await fetch('/api/session') : await post('/api/session', { token });
    return response.ok ? ((await response.json()) as Session) : 'locked';
  } catch {
    return 'away';
  }
}

/** With a header that no other site's page can send. */
export function post(path: string, body: unknown): Promise<Response> {
  return fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-taskflow': '1' },
    body: JSON.stringify(body),
  });
}
