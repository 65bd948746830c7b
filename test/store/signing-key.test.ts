import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CONFIG_DEFAULTS, type Config } from '../../src/model/config.js';
import { resolveSigningKey } from '../../src/store/signing-key.js';
import { systemClock } from '../../src/util/clock.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'taskflow-key-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function resolve(signingKey: Config['cache']['signingKey'], env: Record<string, string> = {}) {
  const config: Config = { ...CONFIG_DEFAULTS, cache: { ...CONFIG_DEFAULTS.cache, signingKey } };
  return resolveSigningKey(config, { root, home: root, env, clock: systemClock });
}

test('without a source there is no key', () => {
  expect(resolve(undefined)).toEqual({ key: undefined });
});

test('from a variable, or from a file whose last line end does not count', () => {
  expect(resolve({ env: 'KEY' }, { KEY: 'k' })).toEqual({ key: 'k' });
  writeFileSync(join(root, 'key'), 'k\n');
  expect(resolve({ file: 'key' })).toEqual({ key: Buffer.from('k') });
  expect(resolve({ file: '~/key' })).toEqual({ key: Buffer.from('k') });
  expect(resolve({ file: join(root, 'key') })).toEqual({ key: Buffer.from('k') });
});

test('a key that is named and cannot be had is a problem, never the same as none', () => {
  writeFileSync(join(root, 'empty'), '\n');
  for (const result of [
    resolve({ env: 'KEY' }),
    resolve({ env: 'KEY' }, { KEY: '' }),
    resolve({ file: 'nothing' }),
    resolve({ file: 'empty' }),
    resolve({ file: '.' }),
  ]) {
    expect(result).toHaveProperty('problem');
  }
});
