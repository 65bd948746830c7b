import { createHmac } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadFlow, runBatch } from '../../src/index.js';
import { createRig, type Rig } from '../support/rig.js';

let rig: Rig;
const servers: Server[] = [];
beforeEach(() => {
  rig = createRig();
});
afterEach(() => {
  rig.remove();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A real server that keeps what it is sent. */
async function receiver(answer: (response: ServerResponse, call: number) => void) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.once('end', () => {
      received.push({ headers: request.headers, body });
      answer(response, received.length);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

const ALL = Object.fromEntries(
  ['onStart', 'onSuccess', 'onFail', 'onBlocked', 'onPaused', 'onEnd'].map((event) => [
    event,
    { command: `echo "$TASKFLOW_EVENT" >> hooks.log; cat > ${event}.json` },
  ]),
);
const called = () => (existsSync(join(rig.root, 'hooks.log')) ? rig.read('hooks.log').trim().split('\n') : []);
const work = { id: 'work', type: 'script', run: 'bin/tick work done' };

describe('each end calls its hook, then onEnd, with the JSON result', () => {
  it.each([
    ['success', [work], 'onSuccess'],
    ['failed', [{ id: 'bad', type: 'script', run: 'exit 1' }], 'onFail'],
    ['blocked', [work, { id: 'gate', type: 'gate', eval: ["{steps.work.output} == 'x'"] }], 'onBlocked'],
    ['paused', [{ id: 'sure', type: 'approval', task: 'Go?' }], 'onPaused'],
  ])('%s', async (status, phases, event) => {
    const result = await rig.run({ name: 'f', hooks: ALL, phases });
    expect(result.status).toBe(status);
    expect({ called: called(), warnings: result.warnings }).toEqual({ called: ['onStart', event, 'onEnd'] });
    const given = JSON.parse(rig.read(`${event}.json`));
    expect(given).toMatchObject({ event, runId: result.runId, status, flow: 'f' });
    expect(given.phases.map(({ id }: { id: string }) => id)).toEqual(phases.map(({ id }) => id));
  });

  it('one that begins with the run and takes longer is not ended with it', async () => {
    const onStart = { command: 'echo >> begun; sleep 0.3; echo done > started.txt' };
    const phases = [{ id: 'a', type: 'script', run: 'until [ -e begun ]; do sleep 0.01; done' }];
    const result = await rig.run({ name: 'f', hooks: { onStart }, phases });
    expect([result.status, result.warnings, rig.read('started.txt')]).toEqual(['success', undefined, 'done\n']);
  });

  it('a run in which nothing changed calls them too', async () => {
    const flow = { name: 'f', hooks: ALL, phases: [{ ...work, cache: { scope: 'cross-run', fingerprint: [] } }] };
    await rig.run(flow);
    const again = await rig.run(flow);
    expect(again.reuse.executed).toBe(0);
    expect(called()).toEqual(['onStart', 'onSuccess', 'onEnd', 'onStart', 'onSuccess', 'onEnd']);
  });

  it('a batch calls them once, not for each row', async () => {
    rig.write('b.json', JSON.stringify({ name: 'b', args: { n: {} }, hooks: ALL, phases: [work] }));
    const loaded = await loadFlow(rig.project, './b.json');
    await runBatch(rig.project, loaded, ['1', '2', '3'], { as: 'n' }).result;
    expect(called()).toEqual(['onStart', 'onSuccess', 'onEnd']);
    expect(JSON.parse(rig.read('onEnd.json'))).toMatchObject({ total: 3, done: 3, status: 'success' });
  });

  it('those of the settings and those of the flow are both called', async () => {
    rig.write('.pi/taskflows/config.yaml', "hooks:\n  onEnd: 'echo settings >> hooks.log'\n");
    await rig.run({ name: 'f', hooks: { onEnd: 'echo flow >> hooks.log' }, phases: [work] });
    expect(called().sort()).toEqual(['flow', 'settings']);
  });
});

describe('a hook cannot harm the run', () => {
  it.each([
    ['fails', { command: 'echo gone >&2; exit 3' }, 'status 3: gone'],
    ['is no program', ['./nothing-here'], 'nothing-here'],
    ['never ends', { command: 'sleep 60', timeout: '300ms' }, '300ms'],
    ['writes outside of the project', { file: '../out.json' }, 'outside of the project'],
    ['reads a secret that is not set', { url: 'http://127.0.0.1:9/', secret: { env: 'NOT_SET' } }, 'NOT_SET'],
    ['has nobody who listens', { url: 'http://127.0.0.1:9/', retries: 0 }, 'ECONNREFUSED'],
  ])('one that %s is a warning', async (_how, hook, why) => {
    const result = await rig.run({ name: 'f', hooks: { onEnd: hook }, phases: [work] });
    expect(result.status).toBe('success');
    expect(result.warnings?.join()).toContain(why);
    expect(existsSync(join(rig.root, '../out.json'))).toBe(false);
  });

  it('the file that it writes is no change of git:worktree', async () => {
    const flow = { name: 'f', hooks: { onEnd: { file: 'result.json' } }, phases: [work] };
    await rig.run(flow);
    expect(JSON.parse(readFileSync(join(rig.root, 'result.json'), 'utf8')).output).toBe('done');
  });
});

describe('a webhook', () => {
  const flowFor = (hook: object) => ({ name: 'f', hooks: { onSuccess: hook }, phases: [work] });

  it('is signed over time and body with the secret, which is not sent', async () => {
    const { received, url } = await receiver((response) => response.end());
    (rig.project.env as Record<string, string>)['HOOK_SECRET'] = 'a long secret';
    const result = await rig.run(flowFor({ url, secret: { env: 'HOOK_SECRET' } }));
    expect(result.warnings).toBeUndefined();
    const { headers, body } = received[0]!;
    const signed = createHmac('sha256', 'a long secret').update(`${headers['x-taskflow-time']}.${body}`).digest('hex');
    expect(headers['x-taskflow-signature']).toBe(`sha256=${signed}`);
    expect(JSON.stringify(received)).not.toContain('a long secret');
    expect(JSON.parse(body)).toMatchObject({ event: 'onSuccess', status: 'success', runId: result.runId });
  });

  it('is tried again while the server is away, and not when it refuses', async () => {
    const busy = await receiver((response, call) => response.writeHead(call < 3 ? 503 : 204).end());
    expect((await rig.run(flowFor({ url: busy.url }))).warnings).toBeUndefined();
    expect(busy.received).toHaveLength(3);
    const closed = await receiver((response) => response.writeHead(403).end());
    expect((await rig.run(flowFor({ url: closed.url }))).warnings?.join()).toContain('answered 403');
    expect(closed.received).toHaveLength(1);
  });

  it('that answers 500 each time is a warning after its retries', async () => {
    const broken = await receiver((response) => response.writeHead(500).end('no such luck'));
    const result = await rig.run(flowFor({ url: broken.url, retries: 1 }));
    expect([result.status, result.warnings?.join()]).toEqual(['success', expect.stringContaining('answered 500')]);
    expect(broken.received).toHaveLength(2);
  });

  it('does not follow a redirect, and does not wait for ever', async () => {
    const target = await receiver((response) => response.end());
    const moved = await receiver((response) => response.writeHead(302, { location: target.url }).end());
    expect((await rig.run(flowFor({ url: moved.url }))).warnings?.join()).toContain('answered 302');
    expect(target.received).toHaveLength(0);
    const silent = await receiver(() => {});
    const began = Date.now();
    const result = await rig.run(flowFor({ url: silent.url, timeout: '200ms', retries: 1 }));
    expect(result.warnings?.join()).toContain('no answer');
    expect(Date.now() - began).toBeLessThan(5_000);
  });
});

it('a generated flow may not have hooks: nothing of it is executed', async () => {
  const plan = JSON.stringify({ hooks: { onEnd: 'echo evil > evil' }, phases: [{ id: 'a', task: 'x' }] });
  const result = await rig.run({
    name: 'f',
    phases: [
      { id: 'plan', type: 'script', run: ['echo', plan], output: 'json' },
      { id: 'do', type: 'flow', def: '{steps.plan.json}' },
    ],
  });
  expect(result.status).toBe('failed');
  expect(result.error?.message).toContain('hooks');
  expect(existsSync(join(rig.root, 'evil'))).toBe(false);
});
