import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openProject } from '../../src/index.js';
import { recomputeKey } from '../../src/memo/identity.js';
import type { JsonObject } from '../../src/model/json.js';
import { exportArchive } from '../../src/store/export-archive.js';
import { importArchive } from '../../src/store/import-archive.js';
import type { Entry } from '../../src/store/store.js';
import { hmacSha256Hex, sha256Hex } from '../../src/util/digest.js';
import { LIMITS } from '../contracts/store-support.js';
import { createRig, type Rig } from '../support/rig.js';
import { STRACE } from '../support/traced.js';

const PIN = '4711';
/** Two results, and where the execution of each has looked. */
const RECORDS = STRACE === undefined ? 2 : 4;
let rig: Rig;
let cache: string;
beforeEach(() => {
  rig = createRig({}, 'auto');
  cache = join(rig.root, '.pi/taskflows/cache');
});
afterEach(() => rig.remove());

const options = (root = rig.root, signingKey?: string) => ({
  dir: join(root, '.pi/taskflows/cache'),
  project: openProject(root, {}),
  limits: LIMITS,
  signingKey,
});

const flow = {
  name: 'f',
  args: { pin: { type: 'string', secret: true } },
  phases: [
    {
      id: 'argument',
      type: 'script',
      run: ['bin/tick', 'argument', 'login {args.pin}'],
      env: { PIN: '{args.pin}' },
      cache: { scope: 'cross-run', fingerprint: [] },
    },
    {
      id: 'variable',
      type: 'script',
      run: ['bin/tick', 'variable', 'x'],
      cache: { scope: 'cross-run', fingerprint: ['env:PIN'] },
    },
  ],
};
// What is printed must not hold the secret, or nothing is kept.
const quiet = JSON.stringify(flow).replace(
  '["bin/tick","argument","login {args.pin}"]',
  '["sh","-c","bin/tick argument done","{args.pin}"]',
);

const run = (env: Record<string, string> = { PIN }) => {
  Object.assign(rig.project.env, env);
  return rig.run(quiet, { args: { pin: PIN } });
};

/** All that somebody has who is given an archive. */
async function exported(signingKey?: string): Promise<Entry[]> {
  const file = join(rig.root, 'cache.tfc');
  expect(await exportArchive(options(rig.root, signingKey), file)).toMatchObject({ entries: 2 });
  const text = gunzipSync(readFileSync(file)).toString('utf8');
  if (signingKey === undefined) expect(text).not.toContain(readFileSync(join(cache, 'secret'), 'utf8'));
  return text
    .split('\n')
    .join('')
    .match(/\{"holder".*?"checksum":"[0-9a-f]{64}"\}/g)!
    .map((entry) => JSON.parse(entry) as Entry);
}

/**
 * As somebody would who has read the code and has nothing but the archive: tries every PIN in the place of what is
 * sealed, until the key fits; and digests of every PIN, with whatever is known as their key, until one is there.
 */
function recover({ identity, key }: Entry): string | undefined {
  const { inexact: _inexact, references: _references, ...rest } = identity as JsonObject;
  expect(recomputeKey(rest), 'the key is made as the code says').toBe(key);
  const text = JSON.stringify(rest);
  const [, store, digest] = /sealed:([0-9a-f]+):([0-9a-f]+)/.exec(text)!;
  const known = ['', store!, key, `store ${store}`];
  for (let n = 0; n < 10_000; n++) {
    const guess = String(n).padStart(4, '0');
    const digests = [sha256Hex(guess), ...known.map((word) => hmacSha256Hex(word, guess)), sha256Hex(store + guess)];
    if (digests.some((found) => found.startsWith(digest!))) return guess;
    const candidate = JSON.parse(text.replaceAll(/sealed:[0-9a-f]+:[0-9a-f]+/g, guess)) as JsonObject;
    if (recomputeKey(candidate) === key) return guess;
  }
  return undefined;
}

test('a PIN of four digits cannot be recovered from an exported archive', async () => {
  await run();
  expect(rig.counts()).toEqual({ argument: 1, variable: 1 });
  const entries = await exported();
  const results = entries.filter(({ pathSets }) => pathSets === undefined);
  expect(results.map((entry) => entry.phase).sort()).toEqual(['argument', 'variable']);
  expect(entries).toHaveLength(RECORDS);
  for (const entry of entries) {
    expect(JSON.stringify(entry)).not.toContain(PIN);
    expect(recover(entry), entry.phase).toBeUndefined();
  }
}, 60_000);

describe('keys that depend on secrets', () => {
  test('are the same in the next run, and others for another value', async () => {
    await run();
    rig.forget();
    await run();
    expect(rig.counts()).toEqual({});
    await run({ PIN: '4712' });
    expect(rig.counts()).toEqual({ variable: 1 });
    rig.forget();
    await rig.run(quiet, { args: { pin: '4713' } });
    expect(rig.counts()).toEqual({ argument: 1 });
  });

  test('are shared by who shares the signing key, and by nobody else', async () => {
    const KEY = 'a signing key that is long enough to be one';
    const sign = (root: string) =>
      writeFileSync(
        join(root, '.pi/taskflows/config.yaml'),
        `${readFileSync(join(root, '.pi/taskflows/config.yaml'), 'utf8')}cache: { signingKey: { env: KEY } }\n`,
      );
    for (const shared of [false, true]) {
      const there = mkdtempSync(join(tmpdir(), 'taskflow-there-'));
      rmSync(cache, { recursive: true, force: true });
      if (shared) sign(rig.root);
      await run({ PIN, KEY });
      await exported(shared ? KEY : undefined);
      copyFileSync(join(rig.root, 'cache.tfc'), join(there, 'cache.tfc'));
      for (const name of ['bin', '.pi', 'flow.json'])
        cpSync(join(rig.root, name), join(there, name), { recursive: true });
      rmSync(join(there, '.pi/taskflows/cache'), { recursive: true });
      const target = options(there, shared ? KEY : undefined);
      expect(await importArchive(target, join(there, 'cache.tfc'))).toMatchObject({ entries: 2 });
      rig.forget();
      const { loadFlow, runFlow } = await import('../../src/index.js');
      const project = openProject(there, { ...rig.project.env });
      const result = await runFlow(project, await loadFlow(project, './flow.json'), { args: { pin: PIN } }).result;
      expect(result.status).toBe('success');
      expect(rig.counts()).toEqual(shared ? {} : { argument: 1, variable: 1 });
      rmSync(there, { recursive: true });
    }
  });
});
