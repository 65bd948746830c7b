import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, type Rig } from '../../support/rig.js';
import { browserAt, ownHeaders, startUi, type TestUi } from './support.js';

let rig: Rig;
let ui: TestUi;
beforeEach(async () => {
  rig = createRig();
  ui = await startUi(rig.project);
});
afterEach(async () => {
  await ui.server.close();
  rig.remove();
});

const cancel = { run: '20260101-000000-abcdef' };

describe('who is let in', () => {
  it('nobody without the cookie: neither to look nor to decide', async () => {
    for (const path of ['/api/runs', '/api/events', '/api/cache']) expect((await ui.ask(path)).status).toBe(401);
    expect((await ui.post('/api/cancel', cancel)).status).toBe(401);
    expect(ui.calls).toEqual([]);
  });

  it('a token opens once; then another one is announced', async () => {
    const entered = await ui.enter();
    expect(entered.status).toBe(200);
    expect(entered.headers['set-cookie']).toEqual([
      expect.stringMatching(new RegExp(`^taskflow-${ui.port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`)),
    ]);
    expect((await ui.ask('/api/runs', { headers: { cookie: ui.cookie() } })).status).toBe(200);
    const again = await ui.post('/api/session', { token: ui.urls[0]!.split('#')[1] });
    expect([again.status, again.headers['set-cookie']]).toEqual([200, undefined]);
    expect(ui.urls).toHaveLength(2);
    expect(ui.urls[1]).not.toBe(ui.urls[0]);
    expect((await ui.enter()).status).toBe(200);
  });

  it('an address that two browsers open lets neither in: one of them may have read it elsewhere', async () => {
    await ui.enter();
    const second = browserAt(ui.port);
    expect((await second.enter(ui.urls[0]!)).status).toBe(401);
    expect([second.cookie(), (await ui.look('/api/runs')).status]).toEqual([undefined, 401]);
    expect(ui.reports).toEqual(['an address was opened by two browsers: both are put out']);
    expect((await second.enter(ui.urls[1]!)).status).toBe(200);
    expect((await second.look('/api/runs')).status).toBe(200);
  });

  it.each(['', 'x', 'x'.repeat(43), null, 7, { a: 1 }])('a wrong token opens nothing: %j', async (token) => {
    expect((await ui.post('/api/session', { token })).status).toBe(401);
    expect(ui.urls).toHaveLength(1);
  });

  it('the cookie of another server, or a cut one, opens nothing', async () => {
    await ui.enter();
    const own = ui.cookie()!;
    const value = own.split('=')[1]!;
    for (const cookie of [own.slice(0, -1), `taskflow-1=${value}`, `taskflow-${ui.port}=`, `x=${value}`, '; ; =']) {
      expect([cookie, (await ui.ask('/api/runs', { headers: { cookie } })).status]).toEqual([cookie, 401]);
    }
    expect((await ui.ask('/api/runs', { headers: { cookie: `a=b; ${own}; c=d` } })).status).toBe(200);
  });

  it('the page itself is open, and holds nothing of the project', async () => {
    const { status, headers, text } = await ui.ask('/');
    expect([status, text]).toEqual([200, '<!doctype html><title>page</title>']);
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('who asks', () => {
  beforeEach(async () => void (await ui.enter()));
  const looked = (headers: Record<string, string | undefined>, path = '/api/runs') =>
    ui.ask(path, { headers: { cookie: ui.cookie(), ...headers } }).then(({ status }) => status);

  it('a name that was made to point here is refused (DNS rebinding), the page included', async () => {
    for (const host of ['evil.example', `evil.example:${ui.port}`, '127.0.0.1', 'localhost:1', `[::1]:${ui.port}`]) {
      expect([host, await looked({ host }), await looked({ host }, '/')]).toEqual([host, 421, 421]);
    }
    expect(await looked({ host: `localhost:${ui.port}` })).toBe(200);
  });

  it('a page of another origin is refused, even with the cookie', async () => {
    for (const origin of ['http://evil.example', 'null', `http://127.0.0.1:1`, `https://127.0.0.1:${ui.port}`]) {
      expect([origin, await looked({ origin })]).toEqual([origin, 403]);
    }
    expect(await looked({ origin: `http://127.0.0.1:${ui.port}` })).toBe(200);
    for (const site of ['cross-site', 'same-site']) expect(await looked({ 'sec-fetch-site': site })).toBe(403);
    for (const site of ['same-origin', 'none']) expect(await looked({ 'sec-fetch-site': site })).toBe(200);
  });

  it('a link from elsewhere opens the page, and a frame or an image does not', async () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect(await looked(link, '/')).toBe(200);
    expect(await looked(link)).toBe(403);
    expect(await looked({ ...link, 'sec-fetch-dest': 'iframe' }, '/')).toBe(403);
    expect(await looked({ ...link, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, '/')).toBe(403);
  });

  it('deciding needs the origin, our header and JSON: what a foreign form or script cannot send', async () => {
    const attempts: [Record<string, string | undefined>, number][] = [
      [{ origin: undefined }, 403],
      [{ origin: 'http://evil.example' }, 403],
      [{ origin: 'null' }, 403],
      [{ 'x-taskflow': undefined }, 403],
      [{ 'content-type': 'text/plain' }, 415],
      [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
      [{ 'content-type': 'application/jsonp' }, 415],
      [{ cookie: undefined }, 401],
      [{ 'sec-fetch-site': 'cross-site' }, 403],
    ];
    for (const [headers, status] of attempts) {
      expect([headers, (await ui.post('/api/cancel', cancel, headers)).status]).toEqual([headers, status]);
    }
    expect(ui.calls).toEqual([]);
    expect((await ui.post('/api/cancel', cancel)).status).toBe(200);
    expect(ui.calls).toEqual([['runs', 'cancel', '--', cancel.run]]);
  });

  it('only GET and POST; a preflight gets no permission', async () => {
    for (const method of ['OPTIONS', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'TRACE']) {
      const { status, headers } = await ui.ask('/api/cancel', { method, headers: ownHeaders(ui.port) });
      expect([method, status, headers['access-control-allow-origin']]).toEqual([method, 405, undefined]);
    }
    const got = await ui.ask('/api/cancel', { headers: { cookie: ui.cookie() } });
    expect([got.status, ui.calls]).toEqual([404, []]);
  });
});

it('so many commands at once, and no more', async () => {
  let going = 0;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const busy = await startUi(rig.project, {
    call: async () => {
      going += 1;
      await ended;
      return { status: 0, stdout: '', stderr: '' };
    },
  });
  await busy.enter();
  const asked = Array.from({ length: 20 }, () => busy.post('/api/cancel', cancel));
  let refused = 0;
  for (const answered of asked) void answered.then(({ status }) => (refused += status === 503 ? 1 : 0));
  while (refused < 12) await new Promise((resolve) => setTimeout(resolve, 10));
  end();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect([going, statuses.filter((status) => status === 200).length]).toEqual([8, 8]);
  expect((await busy.post('/api/cancel', cancel)).status).toBe(200);
  await busy.server.close();
});

describe('--read-only', () => {
  it('refuses all that decides, and shows a preview', async () => {
    const looking = await startUi(rig.project, { readOnly: true });
    await looking.enter();
    const run = cancel.run;
    for (const [name, body] of Object.entries({
      approve: { run, phase: 'a', digest: 'd' },
      reject: { run, phase: 'a', digest: 'd' },
      cancel: { run },
      resume: { run },
      clear: { all: true },
    })) {
      expect([name, (await looking.post(`/api/${name}`, body)).status]).toEqual([name, 403]);
    }
    expect(looking.calls).toEqual([]);
    expect((await looking.post('/api/clear', { all: true, preview: true })).status).toBe(200);
    expect(looking.calls).toEqual([['cache', 'clear', '--all', '--dry-run', '--']]);
    await looking.server.close();
  });
});
