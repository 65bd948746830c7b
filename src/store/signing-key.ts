import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../model/config.js';
import type { Project } from '../util/project.js';

/**
 * The key that entries are signed with, if the configuration names one. A named key that cannot be read is a problem,
 * never the same as no key: unsigned entries would be accepted.
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
    return longEnough(value, `the signing key in ${source.env}`);
  }
  const path = source.file.startsWith('~/')
    ? join(project.home, source.file.slice(2))
    : resolve(project.root, source.file);
  try {
    const text = readFileSync(path, 'latin1').trimEnd();
    if (text === '') return { problem: `the signing key's file ${source.file} is empty` };
    return longEnough(Buffer.from(text, 'latin1'), `the signing key in ${source.file}`);
  } catch (error) {
    return {
      problem: `the signing key's file ${source.file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    };
  }
}

/** Shorter keys could be guessed. */
const SHORTEST = 32;

function longEnough(
  key: Buffer | string,
  what: string,
): { readonly key: Buffer | string } | { readonly problem: string } {
  const bytes = Buffer.byteLength(key);
  if (bytes >= SHORTEST) return { key };
  const length = bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return { problem: `${what} has ${length}; it needs at least ${SHORTEST} (openssl rand -hex 32 makes one)` };
}
