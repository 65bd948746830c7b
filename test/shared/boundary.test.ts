import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { openProject } from '../../src/index.js';
import { newKeyPair } from '../../src/remote/trust.js';
import { type CacheServer, startCacheServer } from '../support/cache-server.js';
import { createTestProject, type TestProject } from '../support/cli.js';

/** What a project's settings, which travel with it, may say about a shared store; and what only the user may. */

let project: TestProject;
let server: CacheServer;
const [mine, theirs] = [newKeyPair(), newKeyPair()];
beforeEach(async () => {
  server = await startCacheServer();
  const phase = { id: 'a', type: 'script', run: ['echo', 'hi'], cache: { scope: 'cross-run' } };
  project = createTestProject({ 'flow.json': JSON.stringify({ phases: [phase] }) });
});
afterEach(async () => {
  await server.stop();
  project.remove();
});

const env = { CACHE_TOKEN: 'the-token-of-the-user', AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'hidden' };
const ofProject = (cache: object) => project.write('.pi/taskflows/config.yaml', JSON.stringify({ cache }));
const ofUser = (cache: object, more: object = {}) =>
  project.write('.home/.pi/agent/taskflows/config.yaml', JSON.stringify({ cache, ...more }));
const run = (...args: string[]) => project.run(['run', 'flow.json', ...args], { env });
const tokens = () => [...new Set(server.seen.map(({ authorization }) => authorization))];
const config = async () =>
  (await loadConfig(openProject(project.root, { ...env, HOME: `${project.root}/.home` }))).config.cache;

describe('a token for a server that the project chose', () => {
  const remote = () => ({ url: server.url, token: { env: 'CACHE_TOKEN' } });

  it('is not sent, nothing else is either, and the run goes on and says how to allow it', async () => {
    ofProject({ remote: remote(), trust: 'none' });
    const { status, stderr } = await run();
    expect([status, server.seen]).toEqual([0, []]);
    expect(stderr).toContain(`would send the key in CACHE_TOKEN to ${server.url}`);
    expect(stderr).toContain(`--allow-key CACHE_TOKEN=${server.url}`);
    expect(stderr).not.toContain('the-token-of-the-user');
  });

  it('is sent with the word of the user: for good, or once', async () => {
    ofProject({ remote: remote(), trust: 'none' });
    await run('--allow-key', `CACHE_TOKEN=${server.url}`);
    expect(tokens()).toEqual(['Bearer the-token-of-the-user']);
    server.seen.length = 0;
    await run('--refresh');
    expect(server.seen).toEqual([]);
    await project.run(['config', 'set', '--user', 'allow.keys.CACHE_TOKEN', server.url]);
    await project.run(['cache', 'clear', '--all']);
    await run();
    expect(tokens()).toEqual(['Bearer the-token-of-the-user']);
  });

  it('is not sent where the user named the token and the project the address', async () => {
    ofUser({ remote: { token: { env: 'CACHE_TOKEN' } } });
    ofProject({ remote: { url: server.url }, trust: 'none' });
    await run();
    expect(server.seen).toEqual([]);
    // A file of the user has no name under which it could be allowed.
    ofUser({ remote: { token: { file: '~/.pi/agent/taskflows/config.yaml' } } });
    expect((await run('--refresh')).stderr).toContain('the token in a file');
    expect(server.seen).toEqual([]);
  });

  it('is sent where only the user chose', async () => {
    ofUser({ remote: remote(), trust: 'none' });
    await run();
    expect(tokens()).toEqual(['Bearer the-token-of-the-user']);
  });

  it('holds for S3 and its usual variables, and for the endpoint', async () => {
    const s3 = { url: 's3://bucket/prefix', endpoint: server.url.replace('/team', '') };
    ofProject({ remote: s3, trust: 'none' });
    expect((await run()).stderr).toContain(`AWS_ACCESS_KEY_ID to ${s3.endpoint}/bucket/prefix`);
    expect(server.seen).toEqual([]);
    await run('--refresh', '--allow-key', `AWS_ACCESS_KEY_ID=${s3.endpoint}/bucket`);
    await project.run(['cache', 'clear', '--all']);
    await run('--allow-key', `AWS_ACCESS_KEY_ID=${s3.endpoint}/bucket`);
    expect(tokens().join()).toMatch(/^AWS4-HMAC-SHA256 Credential=AKID/);
    expect(JSON.stringify(server.seen)).not.toContain('hidden');
  });
});

describe('whom to trust', () => {
  it('a project says for its own runs, where the user has said nothing', async () => {
    ofProject({ trust: { keys: { ci: theirs.publicKey } } });
    expect((await config()).trust?.keys).toEqual({ ci: theirs.publicKey });
    ofProject({ trust: 'none' });
    expect((await config()).trust).toEqual({ keys: {}, mode: 'none' });
  });

  it.each([
    ['keys', { trust: { keys: { mine: mine.publicKey } } }],
    ['a signing key', { signingKey: { env: 'KEY' } }],
  ])('where the user has %s, a project adds nobody and does not switch it off', async (_what, cache) => {
    ofUser(cache);
    for (const trust of ['none', { keys: { ci: theirs.publicKey } }, { keys: { mine: theirs.publicKey } }]) {
      ofProject({ trust });
      const found = (await config()).trust;
      expect([found?.mode, Object.values(found?.keys ?? {})]).toEqual([
        undefined,
        'trust' in cache ? [mine.publicKey] : [],
      ]);
    }
  });

  it('a project does not turn on what the user has turned off', async () => {
    ofUser({ remote: { read: false, write: false } });
    ofProject({ remote: { url: server.url, read: true, write: true }, trust: 'none' });
    expect((await config()).remote).toMatchObject({ read: false, write: false });
    await run();
    expect(server.seen).toEqual([]);
  });
});

describe('settings that cannot be right', () => {
  it.each([
    [{ remote: { url: 'https://user:pass@example.org' } }, 'without a password'],
    [{ remote: { url: 'ftp://example.org' } }, 's3://bucket/prefix'],
    [{ remote: { url: 's3://' } }, 's3://bucket/prefix'],
    [{ remote: { url: 'https://example.org/?x=1' } }, 'https://…'],
    [{ remote: { write: 'sometimes' } }, 'true, false or auto'],
    [{ trust: 'all' }, 'none'],
    [{ trust: { keys: { ci: 'c2hvcnQ=' } } }, 'taskflow cache keygen'],
    [{ trust: { keys: { 'a b': mine.publicKey } } }, 'unknown setting'],
  ])('%j', async (cache, message) => {
    ofProject(cache);
    const { status, stderr } = await run();
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
