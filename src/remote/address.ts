import type { RemoteConfig } from '../model/config.js';

/** The servers of AWS differ by region; the user allows a bucket under this one name. */
const AWS = 'https://s3.amazonaws.com';
const S3 = /^s3:\/\/(?=[a-z0-9][a-z0-9.-]{2,62}(?:\/|$))/;

/** Where requests go: `https://host/path`, for S3 with the bucket as its path. Undefined for anything else. */
export function remoteAddress(url: string, endpoint: string | undefined): string | undefined {
  const address = url.replace(S3, `${endpoint?.replace(/\/+$/, '') ?? AWS}/`).replace(/^turbo\+/, '');
  if (!/^https?:\/\/\S+$/.test(address) || !URL.canParse(address)) return undefined;
  const { username, password, hash, search } = new URL(address);
  // Only Turborepo's servers take a query (the team).
  const hasQuery = search !== '' && !url.startsWith('turbo+');
  return username === '' && password === '' && hash === '' && !hasQuery ? address.replace(/\/+$/, '') : undefined;
}

/** The key that goes to the server, as `allow.keys` names it; a token in a file has no name that could be allowed. */
export function keyOfRemote({ url, endpoint, token }: RemoteConfig): { apiKeyEnv?: string; baseUrl?: string } {
  const apiKeyEnv = url.startsWith('s3:') ? 'AWS_ACCESS_KEY_ID' : token && 'env' in token ? token.env : undefined;
  return { apiKeyEnv, baseUrl: remoteAddress(url, endpoint) };
}
