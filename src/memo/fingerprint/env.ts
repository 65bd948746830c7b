import type { FingerprintSource } from './source.js';
import type { Fingerprint } from './syntax.js';

/** The value itself decides the key; unset is null, which is not the empty text. */
export const resolveEnv: FingerprintSource<Fingerprint & { source: 'env' }> = ({ name }, _options, { project }) => ({
  value: project.env[name] ?? null,
});
