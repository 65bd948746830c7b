import type { Config, RunnerConfig } from '../model/config.js';
import { keyOfRemote } from '../remote/address.js';

/** Which key may go where: addresses by the name of the key's variable. */
export type AllowedKeys = Readonly<Record<string, readonly string[]>>;

/** Whether the user has allowed this key to go to this address. */
export function isKeyAllowed({ apiKeyEnv, baseUrl }: Partial<RunnerConfig>, allowed: AllowedKeys): boolean {
  if (apiKeyEnv === undefined || baseUrl === undefined || !Object.hasOwn(allowed, apiKeyEnv)) return false;
  return allowed[apiKeyEnv]!.some((address) => covers(address, baseUrl));
}

/** The same server, at the allowed path or below it. */
function covers(allowed: string, address: string): boolean {
  const [outer, inner] = [new URL(allowed), new URL(address)];
  if (outer.origin !== inner.origin) return false;
  return `${inner.pathname.replace(/\/$/, '')}/`.startsWith(`${outer.pathname.replace(/\/$/, '')}/`);
}

/** The settings where the command line allows more. */
export function allowKeys(config: Config, allowed: AllowedKeys): Config {
  const runners = Object.entries(config.runners).map(([name, { keyNeedsLeave, ...runner }]) => {
    const isRefused = keyNeedsLeave && !isKeyAllowed(runner, allowed);
    return [name, isRefused ? { ...runner, keyNeedsLeave } : runner];
  });
  return { ...config, runners: Object.fromEntries(runners), cache: allowRemote(config.cache, allowed) };
}

function allowRemote(cache: Config['cache'], allowed: AllowedKeys): Config['cache'] {
  if (!cache.remote?.keyNeedsLeave) return cache;
  const { keyNeedsLeave, ...remote } = cache.remote;
  return isKeyAllowed(keyOfRemote(remote), allowed) ? { ...cache, remote } : cache;
}
