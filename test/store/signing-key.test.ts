import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CONFIG_DEFAULTS, type Config } from '../../src/model/config.js';
import { resolveSigningKey } from '../../src/store/signing-key.js';
import { systemClock } from '../../src/util/clock.js';

const KEY = 'k'.repeat(32);

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
  expect(resolve({ env: 'KEY' }, { KEY })).toEqual({ key: KEY });
  writeFileSync(join(root, 'key'), `${KEY}\n`);
  expect(resolve({ file: 'key' })).toEqual({ key: Buffer.from(KEY) });
  expect(resolve({ file: '~/key' })).toEqual({ key: Buffer.from(KEY) });
  expect(resolve({ file: join(root, 'key') })).toEqual({ key: Buffer.from(KEY) });
});

test('a key that can be found by trying is refused, with how to make a better one', () => {
  const short = KEY.slice(1);
  writeFileSync(join(root, 'key'), `${short}\n`);
  for (const result of [resolve({ env: 'KEY' }, { KEY: short }), resolve({ file: 'key' })]) {
    expect(result).toMatchObject({ problem: expect.stringMatching(/has 31 bytes; it needs at least 32 .*openssl/) });
  }
  expect(resolve({ env: 'KEY' }, { KEY: 'k' })).toMatchObject({ problem: expect.stringContaining('has 1 byte;') });
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
