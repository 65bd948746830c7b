import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../model/config.js';
import type { Project } from '../util/project.js';

/**
 * The key that entries are signed with, if the configuration names one. A key that is named and cannot be had is a
 * problem, never the same as none: entries of strangers would be taken for signed ones.
 */
export function resolveSigningKey(
  config: Config,
  project: Project,
): { readonly key: Buffer | string | undefined } | { readonly problem: string } {
  const source = config.cache.signingKey;
  if (source === undefined) return { key: undefined };
  if ('env' in source) {
    const value = project.env[source.env];
    if (!value) return { problem: `the signing key's variable ${source.env} is not set` };
    return { key: value };
  }
  const path = source.file.startsWith('~/')
    ? join(project.home, source.file.slice(2))
    : resolve(project.root, source.file);
  try {
    const text = readFileSync(path, 'latin1').trimEnd();
    return text === ''
      ? { problem: `the signing key's file ${source.file} is empty` }
      : { key: Buffer.from(text, 'latin1') };
  } catch (error) {
    return {
      problem: `the signing key's file ${source.file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    };
  }
}
