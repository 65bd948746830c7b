import type { StoreLimits } from './options.js';

/** A little below large bounds, or a full store would be due again after every run. */
export function lowWater(limits: StoreLimits): StoreLimits {
  return {
    ...limits,
    maxEntries: limits.maxEntries - (limits.maxEntries < 1_000 ? 0 : Math.floor(limits.maxEntries / 20)),
    maxBytes: limits.maxBytes - Math.floor(limits.maxBytes / 20),
  };
}
