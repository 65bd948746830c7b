import type { RemoteConfig, SecretSource, TrustConfig } from '../model/config.js';
import { keyOfRemote } from '../remote/address.js';
import { isKeyAllowed } from './allowed-keys.js';
import { type Placed, valuesUnder } from './layer.js';
import { allowedKeys } from './runners.js';

/** `KEY.env` or `KEY.file`. */
export function secretSource(placed: Placed, key: string): SecretSource | undefined {
  const [env, file] = [placed.get(`${key}.env`)?.value, placed.get(`${key}.file`)?.value];
  if (env !== undefined) return { env: env as string };
  return file === undefined ? undefined : { file: file as string };
}

const FIELDS = {
  read: 'read',
  write: 'write',
  endpoint: 'endpoint',
  connectTimeoutMs: 'connectTimeout',
  timeoutMs: 'timeout',
  uploadWaitMs: 'uploadWait',
  claimWaitMs: 'claimWait',
} as const;

/** The shared store of the settings; undefined where none is named. */
export function remoteOf(placed: Placed): RemoteConfig | undefined {
  const url = placed.get('cache.remote.url')?.value as string | undefined;
  if (url === undefined) return undefined;
  const token = secretSource(placed, 'cache.remote.token');
  const fields = Object.entries(FIELDS).map(([field, key]) => [field, placed.get(`cache.remote.${key}`)?.value]);
  const remote: RemoteConfig = {
    url,
    ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
    ...(token && { token }),
  };
  const sendsKey = token !== undefined || url.startsWith('s3:');
  const isRefused = sendsKey && isProjectsChoice(placed) && !isKeyAllowed(keyOfRemote(remote), allowedKeys(placed));
  return isRefused ? { ...remote, keyNeedsLeave: true } : remote;
}

/** Whether the project decides where a user's key goes: it named the key or the address. */
function isProjectsChoice(placed: Placed): boolean {
  const parts = ['url', 'endpoint', 'token.env', 'token.file'];
  return parts.some((part) => placed.get(`cache.remote.${part}`)?.layer.source === 'project');
}

export function trustOf(placed: Placed): TrustConfig | undefined {
  const keys = valuesUnder<string>('cache.trust.keys.', placed);
  const sign = secretSource(placed, 'cache.trust.sign');
  const mode = placed.get('cache.trust.mode')?.value as 'none' | undefined;
  if (mode === undefined && sign === undefined && Object.keys(keys).length === 0) return undefined;
  return { keys, ...(mode && { mode }), ...(sign && { sign }) };
}
