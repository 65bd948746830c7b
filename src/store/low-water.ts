import type { StoreLimits } from './options.js';

/** Slightly below the limits: at the limits, a full store would be due for collection after every run. */
export function lowWater(limits: StoreLimits): StoreLimits {
  return {
    ...limits,
    maxEntries: limits.maxEntries - (limits.maxEntries < 1_000 ? 0 : Math.floor(limits.maxEntries / 20)),
    maxBytes: limits.maxBytes - Math.floor(limits.maxBytes / 20),
  };
}
