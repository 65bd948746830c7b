import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRig, type Rig } from '../../support/rig.js';
import { ownHeaders, startUi, type TestUi } from './support.js';

let rig: Rig;
let ui: TestUi;
beforeEach(async () => {
  rig = createRig();
  ui = await startUi(rig.project, {}, { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 });
});
afterEach(async () => {
  await ui.server.close();
  rig.remove();
});

/** What comes back until the server hangs up. */
async function talk(bytes: string | Buffer): Promise<string> {
  const socket = await ui.socket();
  socket.on('error', () => {});
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.write(bytes);
  if (!socket.destroyed) await once(socket, 'close');
  return text;
}

const stillThere = async () => (await ui.ask('/')).status;

it.each([
  '/../../etc/passwd',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/api/runs/../../../etc/passwd',
  '/api/runs/..%2f..%2f',
  '//evil.example/api/runs',
  '/api/runs/',
  '/API/RUNS',
  '/.git/config',
  '/api/__proto__',
  '/api/constructor',
])('a path is never a file: %s', async (path) => {
  await ui.enter();
  for (const method of ['GET', 'POST']) {
    const headers = { ...ownHeaders(ui.port), cookie: ui.cookie() };
    const { status, text } = await ui.ask(path, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) });
    expect([method, status, text]).toEqual([method, 404, '{"error":{"message":"there is nothing here"}}']);
  }
  expect(ui.reports).toEqual([]);
});

it('garbage gets one answer, and the server goes on', async () => {
  const host = `Host: 127.0.0.1:${ui.port}\r\nConnection: close\r\n`;
  const noise = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7919) % 256));
  expect(await talk(noise)).toMatch(/^HTTP\/1\.1 400|^$/);
  expect(await talk('GET / HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400/);
  expect(await talk(`GET http://[ HTTP/1.1\r\n${host}\r\n`)).toMatch(/^HTTP\/1\.1 40/);
  expect(await talk(`GET // HTTP/1.1\r\n${host}\r\n`)).toMatch(/^HTTP\/1\.1 404/);
  expect(await talk(`GET /?%%%&=%ff HTTP/1.1\r\n${host}\r\n`)).toMatch(/^HTTP\/1\.1 200/);
  expect(await talk(`GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(100_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431/);
  expect(await talk(`CONNECT evil.example:443 HTTP/1.1\r\n${host}\r\n`)).toBe('');
  expect(ui.reports).toEqual([]);
  expect(await stillThere()).toBe(200);
});

it('a body that is no JSON object, or too long, is refused', async () => {
  await ui.enter();
  const post = (body: string) =>
    ui.ask('/api/cancel', { method: 'POST', headers: { ...ownHeaders(ui.port), cookie: ui.cookie() }, body });
  for (const body of ['', '{', '[]', 'null', '"x"', '\0']) {
    expect([body, (await post(body)).status]).toEqual([body, 400]);
  }
  const long = await post(`{"run":"${'x'.repeat(100_000)}"}`).catch((error: Error) => ({ status: error.message }));
  expect([413, 'write EPIPE', 'read ECONNRESET']).toContain(long.status);
  expect(ui.calls).toEqual([]);
  expect(ui.reports).toEqual([]);
});

it('who sends a request slowly is cut off: headers and body', async () => {
  await ui.enter();
  const drip = async (socket: Socket, text: string) => {
    socket.on('error', () => {});
    const timer = setInterval(() => socket.write(text), 20);
    await once(socket.resume(), 'close');
    clearInterval(timer);
  };
  const slowHeaders = await ui.socket();
  slowHeaders.write('GET / HTTP/1.1\r\n');
  await drip(slowHeaders, 'X-A: b\r\n');
  const slowBody = await ui.socket();
  const headers = Object.entries({ ...ownHeaders(ui.port), cookie: ui.cookie()!, host: `127.0.0.1:${ui.port}` });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  slowBody.write(`POST /api/cancel HTTP/1.1\r\n${lines}content-length: 60000\r\n\r\n{`);
  await drip(slowBody, ' ');
  expect([ui.calls, ui.reports, await stillThere()]).toEqual([[], [], 200]);
});

it('1,000 connections that say nothing are dropped, and the page is there again', async () => {
  const before = process.memoryUsage().rss;
  const closed = Array.from({ length: 1_000 }, async () => {
    const socket = (await ui.socket()).on('error', () => {}).resume();
    if (!socket.destroyed) await once(socket, 'close');
  });
  await Promise.all(closed);
  expect(await stillThere()).toBe(200);
  expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(100);
});

it('ends at once, whoever still listens', async () => {
  await ui.enter();
  const socket = await ui.socket();
  socket.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${ui.port}\r\nCookie: ${ui.cookie()}\r\n\r\n`);
  await once(socket, 'data');
  const idle = await ui.socket();
  const over = Promise.all([once(socket, 'close'), once(idle.resume(), 'close')]);
  const started = Date.now();
  await ui.server.close();
  await over;
  expect(Date.now() - started).toBeLessThan(2_000);
});
