import { CONFIG_DEFAULTS, type ConfigValue } from '../model/config.js';

/** The defaults, spelled as a person would write them. */
export const DEFAULT_VALUES: readonly ConfigValue[] = [
  { key: 'cache.maxBytes', value: '1GB', source: 'default' },
  { key: 'cache.maxEntries', value: CONFIG_DEFAULTS.cache.maxEntries, source: 'default' },
  { key: 'cache.maxAge', value: '90d', source: 'default' },
  { key: 'cache.dir', value: CONFIG_DEFAULTS.cache.dir, source: 'default' },
  { key: 'cache.observe.mode', value: CONFIG_DEFAULTS.cache.observe.mode, source: 'default' },
  { key: 'iteration.mode', value: CONFIG_DEFAULTS.iteration.mode, source: 'default' },
  { key: 'iteration.ttl', value: '24h', source: 'default' },
  { key: 'limits.items', value: CONFIG_DEFAULTS.limits.items, source: 'default' },
  { key: 'limits.outputBytes', value: '256MB', source: 'default' },
  { key: 'limits.resetWait', value: '6h', source: 'default' },
];
