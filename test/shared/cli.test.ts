import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { newKeyPair } from '../../src/remote/trust.js';
import { type CacheServer, startCacheServer } from '../support/cache-server.js';
import { createTestProject, type TestProject } from '../support/cli.js';

let server: CacheServer;
const keys = newKeyPair();
const projects: TestProject[] = [];

beforeAll(async () => {
  server = await startCacheServer();
});
beforeEach(() => {
  server.kept.clear();
  server.seen.length = 0;
  server.misbehave = undefined;
});
afterEach(() => {
  for (const project of projects.splice(0)) project.remove();
});
afterAll(() => server.stop());

const script = (id: string, more: object = {}) => ({
  id,
  type: 'script',
  run: `echo ${id} >> log; echo said ${id}`,
  cache: { scope: 'cross-run' },
  ...more,
});

function machine(more: object = {}): TestProject {
  const cache = {
    remote: { url: server.url },
    observe: 'off',
    trust: { keys: { ci: keys.publicKey }, sign: { env: 'SIGNING_KEY' } },
  };
  const chain = [script('a'), script('b', { dependsOn: ['a'], run: ['echo', '{steps.a.output}'] })];
  const project = createTestProject({
    '.pi/taskflows/config.yaml': JSON.stringify({ cache: { ...cache, ...more } }),
    'flow.json': JSON.stringify({ name: 'flow', phases: chain }),
    'flows/other.json': JSON.stringify({ name: 'other', phases: [script('c')] }),
  });
  projects.push(project);
  return project;
}

const signing = { env: { SIGNING_KEY: keys.privateKey.replaceAll('\n', '\\n') } };

it('a shared hit is told as one, with its age and what it saved, in text, JSON and events', async () => {
  await machine().run(['run', 'flow.json'], signing);
  expect(server.entries().length).toBe(2);
  const { stderr } = await machine().run(['run', 'flow.json']);
  expect(stderr).toMatch(/a {2}CACHED \(shared · age [\d.]+m?s( · saved [^)]+)?\)/);
  const { stdout } = await machine().run(['run', 'flow.json', '--json']);
  expect(JSON.parse(stdout).phases[0]).toMatchObject({ id: 'a', cacheHit: 'cross-run', shared: true });
  const { stdout: events } = await machine().run(['run', 'flow.json', '--events']);
  expect(events).toMatch(/"type":"phase-end".*"shared":true/);
});

it('a dry run asks nobody, and --no-remote neither', async () => {
  const project = machine();
  expect((await project.run(['run', 'flow.json', '--dry-run'])).stdout).toContain('would run');
  await project.run(['run', 'flow.json', '--no-remote'], signing);
  expect(server.seen).toEqual([]);
});

it('--frozen is content with what the shared cache has', async () => {
  await machine().run(['run', 'flow.json'], signing);
  expect((await machine().run(['run', 'flow.json', '--frozen'])).status).toBe(0);
  server.kept.clear();
  expect((await machine().run(['run', 'flow.json', '--frozen'])).status).toBe(6);
});

it('status says what the shared cache is and who is trusted, and asks nobody', async () => {
  const project = machine();
  const { stdout } = await project.run(['cache', 'status']);
  expect(stdout).toContain(
    `shared ${server.url}: read; not written (there is no signing key in SIGNING_KEY); ` +
      `trusts ci (${keys.keyId.slice(0, 4)}…)`,
  );
  const { stdout: json } = await project.run(['cache', 'status', '--json'], signing);
  expect(JSON.parse(json).shared).toEqual({
    url: server.url,
    read: true,
    write: true,
    trusts: { ci: keys.keyId },
    signsAs: keys.keyId,
  });
  expect(
    JSON.parse((await machine({ remote: undefined }).run(['cache', 'status', '--json'])).stdout).shared,
  ).toBeNull();
  expect(server.seen).toEqual([]);
});

it('status --probe says whether it answers, and writes nothing', async () => {
  const project = machine();
  expect((await project.run(['cache', 'status', '--probe'], signing)).stdout).toMatch(/^shared .*; answers$/m);
  expect(server.seen.map(({ method }) => method)).toEqual(['HEAD']);
  server.misbehave = (request, response) => {
    request.resume();
    response.writeHead(403).end();
    return true;
  };
  const { stdout } = await project.run(['cache', 'status', '--probe', '--json']);
  expect(JSON.parse(stdout).shared.answers).toBe('it answers 403');
  const gone = machine({ remote: { url: 'http://127.0.0.1:1/cache' } });
  const { status, stdout: text } = await gone.run(['cache', 'status', '--probe']);
  expect([status, text]).toEqual([0, expect.stringContaining('cannot be used now (no server answers there)')]);
});

it('doctor tries it only with --probe, and says so before', async () => {
  const project = machine();
  const { stdout } = await project.run(['doctor', '--json'], signing);
  expect(stdout).toContain(`${server.url}: read; written, signed by`);
  expect(server.seen).toEqual([]);
  const probed = await project.run(['doctor', '--probe'], signing);
  expect(probed.stderr).toContain(`puts a probe and gets it back at ${server.url}`);
  expect(probed.stdout).toContain('can be written and read');
  server.misbehave = (request, response) => {
    request.resume();
    response.writeHead(507).end();
    return true;
  };
  const full = await project.run(['doctor', '--probe'], signing);
  expect([full.status, full.stdout]).toEqual([1, expect.stringContaining('cannot be written: it answers 507')]);
});

it('push uploads what is kept, of one flow or of all, once; pull brings what a flow needs', async () => {
  const project = machine();
  for (const flow of ['flow.json', 'flows/other.json']) await project.run(['run', flow, '--no-remote']);
  const refused = await project.run(['cache', 'push']);
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('no signing key in SIGNING_KEY')]);
  const one = await project.run(['cache', 'push', 'flows/other.json', '--json'], signing);
  expect(JSON.parse(one.stdout)).toEqual({ pushed: 1, known: 0, left: 0, failed: 0 });
  const all = await project.run(['cache', 'push'], signing);
  expect(all.stdout).toContain('2 entries uploaded; 1 there already');

  const laptop = machine();
  const pulled = await laptop.run(['cache', 'pull', 'flow.json', '--json']);
  expect(JSON.parse(pulled.stdout)).toEqual({ pulled: 2, flows: [{ flow: 'flow', reused: 2, missing: 0 }] });
  await laptop.run(['cache', 'pull']);
  const asked = server.seen.length;
  await laptop.run(['run', 'flow.json']);
  await laptop.run(['run', 'flows/other.json']);
  expect(server.seen.length).toBe(asked);
  expect(() => statSync(join(laptop.root, 'log'))).toThrow();
});

it('push says what it could not do', async () => {
  const project = machine();
  await project.run(['run', 'flow.json', '--no-remote']);
  server.misbehave = ({ method }, response) => {
    if (method === 'PUT') response.writeHead(403).end();
    return method === 'PUT';
  };
  const { status, stderr } = await project.run(['cache', 'push'], signing);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/2 entries were not uploaded: it answers 403/)]);
  const none = await machine({ remote: undefined }).run(['cache', 'pull', 'flow.json']);
  expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('there is no shared cache')]);
});

it('keygen makes a pair that works, and says where each half goes', async () => {
  const project = machine();
  const made = await project.run(['cache', 'keygen']);
  expect(made.stdout).toMatch(/^-----BEGIN PRIVATE KEY-----\n[\s\S]+-----END PRIVATE KEY-----\n$/);
  const [, publicKey] = /keys: \{ ci: "([^"]+)" \}/.exec(made.stderr)!;
  const cache = { trust: { keys: { ci: publicKey }, sign: { file: 'signing.pem' } } };
  const ci = machine(cache);
  writeFileSync(join(ci.root, 'signing.pem'), made.stdout);
  await ci.run(['run', 'flow.json']);
  const { stdout } = await machine({ trust: { keys: { ci: publicKey } } }).run(['run', 'flow.json', '--json']);
  expect(JSON.parse(stdout).reuse.executed).toBe(0);

  expect((await project.run(['cache', 'keygen', '--out', 'key.pem'])).stdout).toBe('');
  expect(statSync(join(project.root, 'key.pem')).mode & 0o777).toBe(0o600);
  const again = await project.run(['cache', 'keygen', '--out', 'key.pem']);
  expect([again.status, again.stderr]).toEqual([2, expect.stringContaining('is there already')]);
});

it('a signing key that is none is a warning, and nothing is uploaded', async () => {
  const { status, stderr } = await machine().run(['run', 'flow.json'], { env: { SIGNING_KEY: 'nonsense' } });
  expect([status, server.count('PUT')]).toEqual([0, 0]);
  expect(stderr).toContain('is not written: SIGNING_KEY holds no Ed25519 private key');
  expect(stderr).not.toContain('nonsense');
});

it('workers without bullmq: it says what to install, and runs go on without them', async () => {
  const project = machine();
  const ran = await project.run(['run', 'flow.json', '--workers', 'redis://127.0.0.1:1'], signing);
  expect([ran.status, ran.stderr]).toEqual([
    2,
    expect.stringContaining('workers need the package bullmq, which is not'),
  ]);
  expect(ran.stderr).toContain('npm install bullmq@6 ioredis@5');
  expect((await project.run(['run', 'flow.json'], signing)).status).toBe(0);
});

it('a map whose items all come from the shared cache says so, and a cache that is not used why, once', async () => {
  const over = ['x', 'y'];
  const flow = JSON.stringify({ name: 'many', phases: [script('m', { type: 'map', over, run: ['echo', '{item}'] })] });
  for (const [env, said] of [
    [signing, '2 of 2 items executed'],
    [{}, 'CACHED (shared · age '],
  ] as const) {
    const project = machine();
    project.write('flow.json', flow);
    expect((await project.run(['run', 'flow.json'], env)).stderr).toContain(said);
  }
  const { stdout } = await machine({ remote: { url: server.url, token: { env: 'TOKEN' } } }).run(['cache', 'status']);
  expect(stdout).toMatch(
    /shared \S+: not used \(the project's settings would send the key in TOKEN to [^)]+\); trusts/,
  );
});
