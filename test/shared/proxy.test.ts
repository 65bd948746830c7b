import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { proxyFor } from '../../src/util/proxy.js';
import { type CacheServer, startCacheServer } from '../support/cache-server.js';
import { createTestProject } from '../support/cli.js';
import { type ProxyServer, startProxy } from '../support/proxy-server.js';
import { ticking } from '../support/rig.js';
import { CROSS, createTeam, type Team } from './support.js';

/** The name of the shared cache is known to nobody but the proxy. */
const HTTP = 'http://cache.example.test/team';
const FLOW = { phases: [ticking('one', CROSS), ticking('two', CROSS)] };

let server: CacheServer;
let proxy: ProxyServer;
let team: Team;

beforeAll(async () => {
  server = await startCacheServer();
  proxy = await startProxy({ port: Number(new URL(server.url).port) });
  team = createTeam(HTTP);
});
beforeEach(() => {
  server.kept.clear();
  proxy.seen.length = 0;
  proxy.authorizations.clear();
});
afterAll(async () => {
  team.remove();
  await proxy.stop();
  await server.stop();
});

it('http goes through HTTP_PROXY, with its name and password, and NO_PROXY goes around it', async () => {
  const env = { HTTP_PROXY: proxy.url };
  expect((await team.machine({ signs: true, env }).run(FLOW)).warnings).toBeUndefined();
  expect(server.entries().length).toBe(2);
  const laptop = team.machine({ env });
  await laptop.run(FLOW);
  expect(laptop.executions()).toEqual([]);
  expect(new Set(proxy.seen.map((line) => line.replace(/[0-9a-f]{64}$/, 'KEY')))).toEqual(
    new Set([`GET ${HTTP}/ac/KEY`, `PUT ${HTTP}/ac/KEY`]),
  );
  expect([...proxy.authorizations]).toEqual([`Basic ${Buffer.from('user:p@ss').toString('base64')}`]);
  proxy.seen.length = 0;
  const around = await team.machine({ env: { ...env, NO_PROXY: 'other.org,.example.test' } }).run(FLOW);
  expect([proxy.seen, around.status]).toEqual([[], 'success']);
  expect(JSON.stringify(around)).not.toContain('p%40ss');
});

it('which proxy is meant', () => {
  const env = {
    HTTP_PROXY: 'http://a:1',
    https_proxy: 'b:2',
    HTTPS_PROXY: 'http://c:3',
    NO_PROXY: 'x.org:8443, .y.org',
  };
  const of = (url: string, more: object = {}) => proxyFor(new URL(url), { ...env, ...more })?.host;
  expect([of('http://q.org'), of('https://q.org')]).toEqual(['a:1', 'b:2']);
  expect([of('https://x.org:8443'), of('https://x.org'), of('https://ax.org:8443')]).toEqual([undefined, 'b:2', 'b:2']);
  expect([of('http://y.org'), of('http://deep.y.org'), of('http://my.org')]).toEqual([undefined, undefined, 'a:1']);
  expect([of('http://127.0.0.1:9'), of('http://localhost'), of('http://[::1]:9')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect([of('http://q.org', { NO_PROXY: '*' }), of('http://q.org', { HTTP_PROXY: 'socks5://a:1' })]).toEqual([
    undefined,
    undefined,
  ]);
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) console.warn('skipped: openssl is not installed (apt-get install -y openssl)');

describe.skipIf(!hasOpenssl)('https goes through a tunnel of HTTPS_PROXY', () => {
  let folder: string;
  let tls: ReturnType<typeof createTlsServer>;
  let tunnel: ProxyServer;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'proxy-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const name = ['-subj', '/CN=cache.example.test', '-addext', 'subjectAltName=DNS:cache.example.test'];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    spawnSync('openssl', ['req', '-x509', ...kind, ...name, '-keyout', key, '-out', cert]);
    tls = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
      const plain = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.on('error', () => plain.destroy());
      plain.on('error', () => socket.destroy());
      socket.pipe(plain).pipe(socket);
    });
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
    tunnel = await startProxy({ port: (tls.address() as { port: number }).port });
  });
  afterAll(async () => {
    await tunnel.stop();
    tls.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    tunnel.seen.length = 0;
    tunnel.misbehave = undefined;
  });

  async function run() {
    const remote = { url: 'https://cache.example.test:8443/team', write: true, connectTimeout: '2s', timeout: '5s' };
    const project = createTestProject({
      '.pi/taskflows/config.yaml': JSON.stringify({ cache: { remote, trust: 'none', observe: 'off' } }),
      'flow.json': JSON.stringify({ phases: [{ id: 'a', type: 'script', run: ['echo', 'hi'], ...CROSS }] }),
    });
    const env = { HTTPS_PROXY: tunnel.url, NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') };
    const began = performance.now();
    const result = await project.run(['run', 'flow.json'], { env });
    project.remove();
    return { ...result, ms: performance.now() - began };
  }

  it('and the certificate is that of the server', async () => {
    const { stderr } = await run();
    expect([stderr, server.entries().length]).toEqual([expect.not.stringContaining('the shared cache'), 1]);
    expect((await run()).stderr).toContain('CACHED (shared');
    expect(new Set(tunnel.seen)).toEqual(new Set(['CONNECT cache.example.test:8443']));
  });

  it.each([
    [
      'refuses',
      'the proxy answers 407',
      (socket: { end(text: string): void }) => socket.end('HTTP/1.1 407 No\r\n\r\n'),
    ],
    ['does not answer', 'the proxy does not answer', () => {}],
    ['hangs up', 'the proxy cannot be reached', (socket: { destroy(): void }) => socket.destroy()],
  ])('a proxy that %s costs a warning and its time limit', async (_what, words, answer) => {
    tunnel.misbehave = (socket) => {
      answer(socket);
      return true;
    };
    const { status, stderr, ms } = await run();
    expect([status, stderr]).toEqual([0, expect.stringContaining(words)]);
    expect(stderr).not.toContain('p%40ss');
    expect(ms).toBeLessThan(20_000);
  });
});
