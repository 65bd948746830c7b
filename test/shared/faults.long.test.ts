import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startCacheServer } from '../support/cache-server.js';
import { phaseOf, ticking } from '../support/rig.js';
import { CROSS, type Machine, server, team, useTeam } from './support.js';

useTeam();

const FILES = {
  id: 'files',
  type: 'script',
  run: 'bin/tick files; mkdir -p out; seq 1 50000 > out/a.txt; echo b > out/b.txt',
  outputs: ['out/*'],
  ...CROSS,
};
const FLOW = { phases: [ticking('one', CROSS), FILES, ticking('two', CROSS), ticking('three', CROSS)] };
const CHAIN = {
  phases: Array.from({ length: 6 }, (_, index) =>
    ticking(`p${index}`, { ...CROSS, ...(index > 0 && { dependsOn: [`p${index - 1}`] }) }),
  ),
};
const QUICK = { timeout: '300ms', connectTimeout: '200ms', uploadWait: '1s' };

/** Runs as if there were no server: with the right results, within a bound, and with what it says about it. */
async function rightAllTheSame(
  machine: Machine,
  flow: typeof FLOW | typeof CHAIN,
  withinMs: number,
): Promise<readonly string[]> {
  const began = performance.now();
  const result = await machine.run(flow);
  expect(performance.now() - began).toBeLessThan(withinMs);
  expect(result.status).toBe('success');
  for (const { id } of flow.phases as { id: string }[]) {
    if (id !== 'files') expect(phaseOf(result, id).output).toBe(`said ${id}`);
  }
  if (flow === FLOW) expect(machine.read('out/a.txt')).toMatch(/^1\n[\s\S]*\n50000\n$/);
  return result.warnings ?? [];
}

const reader = () => team.machine({ cache: { remote: { url: server.url, ...QUICK } } });
const writer = () => team.machine({ signs: true, cache: { remote: { url: server.url, ...QUICK } } });

describe('a server that lies', () => {
  const bodies: Record<string, (body: Buffer) => Buffer> = {
    'other bytes': (body) => Buffer.from(body.map((byte) => byte ^ 1)),
    'the first half': (body) => body.subarray(0, body.length / 2),
    nothing: () => Buffer.alloc(0),
    'a page of HTML': () => Buffer.from('<html>200 OK</html>'),
    'another entry': () => [...server.kept.values()][0]!,
  };

  it.each(Object.keys(bodies))('every body is %s', async (name) => {
    await writer().run(FLOW);
    for (const [path, body] of [...server.kept]) server.kept.set(path, bodies[name]!(body));
    const laptop = reader();
    await rightAllTheSame(laptop, FLOW, 15_000);
    expect(laptop.executions().length).toBeGreaterThanOrEqual(3);
  });

  it('blobs are gone, or other ones', async () => {
    await writer().run(FLOW);
    const blobs = server.blobs();
    server.kept.set(blobs[0]!, Buffer.from('wrong'));
    const laptop = reader();
    await rightAllTheSame(laptop, FLOW, 15_000);
    expect(laptop.executions()).toEqual(['files']);
    for (const path of blobs) server.kept.delete(path);
    const other = reader();
    await rightAllTheSame(other, FLOW, 15_000);
    expect(other.executions()).toEqual(['files']);
  });

  it('answers are cut short in the middle', async () => {
    await writer().run(FLOW);
    server.misbehave = ({ method, url }, response) => {
      const body = server.kept.get(url!);
      if (method !== 'GET' || !body) return false;
      response.writeHead(200, { 'content-length': body.length });
      response.write(body.subarray(0, 20));
      setTimeout(() => response.destroy(), 20);
      return true;
    };
    const laptop = reader();
    const warnings = await rightAllTheSame(laptop, FLOW, 15_000);
    expect(laptop.counts()).toEqual({ one: 1, files: 1, two: 1, three: 1 });
    expect(warnings).toEqual([expect.stringMatching(/no longer used in this run: the answer was cut short/)]);
  });

  it('a body without an end is read up to a bound', async () => {
    await writer().run(FLOW);
    const blob = server.blobs()[0]!;
    server.misbehave = ({ method, url }, response) => {
      if (method !== 'GET' || url !== blob) return false;
      response.writeHead(200);
      const more = setInterval(() => response.write(Buffer.alloc(64 * 1024)), 1);
      response.on('close', () => clearInterval(more));
      return true;
    };
    const laptop = reader();
    await rightAllTheSame(laptop, FLOW, 15_000);
    expect(laptop.executions()).toEqual(['files']);
  });
});

describe('a server that does not answer', () => {
  const hang: Record<string, (response: ServerResponse) => void> = {
    'before the head': () => {},
    'after the head': (response) => void response.writeHead(200, { 'content-length': 1000 }).flushHeaders(),
    'in the body': (response) => void response.writeHead(200, { 'content-length': 1000 }).write('some'),
  };

  it.each(Object.keys(hang))('it hangs %s: three failures, and the rest of the run asks no more', async (name) => {
    server.misbehave = (_request, response) => {
      hang[name]!(response);
      return true;
    };
    const laptop = reader();
    const warnings = await rightAllTheSame(laptop, CHAIN, 10_000);
    expect(warnings).toEqual([expect.stringMatching(/no longer used in this run: (no answer|not done)/)]);
    expect(server.seen.length).toBe(3);
    expect(laptop.executions().length).toBe(6);
  });

  it.each([
    ['GET', '/ac/'],
    ['GET', '/cas/'],
    ['HEAD', '/cas/'],
    ['PUT', '/cas/'],
    ['PUT', '/ac/'],
  ])('it hangs at each %s %s', async (method, part) => {
    await writer().run({ phases: [FILES] });
    // Other bytes under the names of the files: a reader has to ask for them, and a writer to bring new ones.
    if (method !== 'GET') server.kept.clear();
    server.misbehave = (request) => request.method === method && request.url!.includes(part);
    const machine = writer();
    await rightAllTheSame(machine, FLOW, 15_000);
    expect(machine.counts()['files']).toBe(1);
    expect(server.count(method, part)).toBeGreaterThan(0);
  });

  it('it sends one byte now and then: the whole is bounded too', async () => {
    await writer().run(FLOW);
    server.misbehave = ({ method, url }, response) => {
      if (method !== 'GET' || !server.kept.has(url!)) return false;
      response.writeHead(200, { 'content-length': 1_000_000 });
      const drip = setInterval(() => response.write('x'), 50);
      response.on('close', () => clearInterval(drip));
      return true;
    };
    const warnings = await rightAllTheSame(reader(), FLOW, 15_000);
    expect(warnings).toEqual([expect.stringMatching(/no longer used in this run: not done within/)]);
  });

  it('nobody listens there: offline costs milliseconds', async () => {
    const gone = await startCacheServer();
    await gone.stop();
    const timed = async (machine: Machine) => {
      const began = performance.now();
      const warnings = await rightAllTheSame(machine, CHAIN, 10_000);
      return { ms: performance.now() - began, warnings };
    };
    const cut = () => team.machine({ signs: true, cache: { remote: { url: gone.url } } });
    // The first run loads the program.
    await timed(cut());
    const offline = await timed(cut());
    const without = await timed(team.machine({ cache: { remote: { url: gone.url, read: false, write: false } } }));
    expect(offline.ms - without.ms).toBeLessThan(500);
    expect(offline.warnings).toEqual([
      expect.stringMatching(/no longer used in this run: no server answers there/),
      expect.stringMatching(/^6 results were not uploaded/),
    ]);
    expect(without.warnings).toEqual([]);
  });

  it('it takes a connection and never shakes hands', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as { port: number };
    const laptop = team.machine({ cache: { remote: { url: `https://127.0.0.1:${port}`, ...QUICK } } });
    const warnings = await rightAllTheSame(laptop, CHAIN, 10_000);
    expect(warnings).toEqual([expect.stringMatching(/no longer used in this run: no connection within 200ms/)]);
    silent.close();
  });

  it('it is gone in the middle of a run', async () => {
    const own = await startCacheServer();
    const machine = team.machine({ signs: true, cache: { remote: { url: own.url, ...QUICK } } });
    own.misbehave = () => {
      if (own.seen.length > 3) void own.stop();
      return false;
    };
    const warnings = await rightAllTheSame(machine, CHAIN, 10_000);
    expect(warnings.join('\n')).toMatch(/not uploaded to the shared cache/);
    expect(machine.executions().length).toBe(6);
  });

  it('uploads that hang are given up after the bound, and the run says how many', async () => {
    server.misbehave = ({ method }) => method === 'PUT';
    const machine = team.machine({ signs: true, cache: { remote: { url: server.url, uploadWait: '300ms' } } });
    const warnings = await rightAllTheSame(machine, FLOW, 10_000);
    expect(warnings).toEqual(['4 results were not uploaded to the shared cache: there was no more time']);
  });
});

describe('a server that refuses', () => {
  const answering = (status: number, method: RegExp, headers: Record<string, string> = {}) => {
    server.misbehave = (request, response) => {
      if (!method.test(request.method!)) return false;
      request.resume();
      response.writeHead(status, headers).end('no');
      return true;
    };
  };

  it('500 to everything', async () => {
    answering(500, /./);
    const warnings = await rightAllTheSame(writer(), CHAIN, 10_000);
    expect(warnings[0]).toMatch(/no longer read in this run: it answers 500/);
    expect(server.count('GET')).toBe(3);
  });

  it('a full server (507): written no more, read all the same', async () => {
    await writer().run({ phases: [ticking('one', CROSS)] });
    answering(507, /PUT/);
    const machine = writer();
    const warnings = await rightAllTheSame(machine, FLOW, 10_000);
    expect(machine.counts()).toEqual({ files: 1, two: 1, three: 1 });
    expect(warnings.at(-1)).toBe('3 results were not uploaded to the shared cache: it answers 507');
  });

  it.each([401, 403])('%i on PUT switches writing off at once, and reading stays', async (status) => {
    await writer().run({ phases: [ticking('p5', { ...CROSS, dependsOn: [] })] });
    answering(status, /PUT/);
    const machine = writer();
    const warnings = await rightAllTheSame(machine, CHAIN, 10_000);
    expect(warnings[0]).toMatch(new RegExp(`no longer written in this run: it answers ${status}`));
    expect(server.count('GET')).toBeGreaterThanOrEqual(7);
    // Those that were on their way at that moment, too, are said to be refused.
    const together = await rightAllTheSame(writer(), FLOW, 10_000);
    expect(together.at(-1)).toBe(`4 results were not uploaded to the shared cache: it answers ${status}`);
  });

  it('an expired token on GET switches reading off at once', async () => {
    answering(401, /GET/);
    const warnings = await rightAllTheSame(reader(), CHAIN, 10_000);
    expect(warnings).toEqual([expect.stringMatching(/no longer read in this run: it answers 401/)]);
    expect(server.count('GET')).toBe(1);
  });

  it.each([
    [401, 1],
    [400, 3],
  ])('a token that expires in the middle of a run (%i; 400 is how S3 says it)', async (status, most) => {
    const isOld = () => server.count('GET') > 3;
    let refusals = 0;
    server.misbehave = (request, response) => {
      if (!isOld()) return false;
      if (request.method === 'GET') refusals += 1;
      request.resume();
      response.writeHead(status).end();
      return true;
    };
    const machine = writer();
    const warnings = await rightAllTheSame(machine, CHAIN, 10_000);
    expect(warnings.join('\n')).toMatch(new RegExp(`no longer read in this run: it answers ${status}`));
    expect([machine.executions().length, refusals]).toEqual([6, most]);
  });

  it('redirects are not followed, so no token goes elsewhere', async () => {
    const elsewhere = await startCacheServer();
    answering(302, /./, { location: `${elsewhere.url}/ac/${'0'.repeat(64)}` });
    const machine = team.machine({ signs: true, cache: { remote: { url: server.url, ...QUICK } } });
    const warnings = await rightAllTheSame(machine, CHAIN, 10_000);
    expect(elsewhere.seen).toEqual([]);
    expect(warnings[0]).toMatch(/it sends us elsewhere \(302\)/);
    await elsewhere.stop();
  });
});

it('an interrupted run does not wait for uploads', async () => {
  server.misbehave = ({ method }) => method === 'PUT';
  const machine = team.machine({ signs: true });
  const stop = new AbortController();
  const handle = await machine.start(
    { phases: [ticking('one', CROSS), { id: 'long', type: 'script', run: 'sleep 30' }] },
    { signal: stop.signal, onEvent: (event) => event.type === 'phase-end' && setTimeout(() => stop.abort(), 100) },
  );
  const began = performance.now();
  expect((await handle.result).status).toBe('interrupted');
  expect(performance.now() - began).toBeLessThan(5_000);
});
