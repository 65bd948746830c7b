import { once } from 'node:events';
import { appendFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { journalOf, runFolder } from '../../../src/run/history/runs-folder.js';
import { EventStream } from '../../../src/ui/server/event-stream.js';
import type { LiveRun } from '../../../src/ui/server/run-answers.js';
import { createRig, type Rig, ticking } from '../../support/rig.js';
import { startUi, type TestUi } from './support.js';

let rig: Rig;
let ui: TestUi;
beforeEach(async () => {
  rig = createRig();
  ui = await startUi(rig.project);
  await ui.enter();
});
afterEach(async () => {
  await ui.server.close();
  rig.remove();
  expect(ui.reports).toEqual([]);
});

interface Heard {
  readonly id: string;
  readonly event: string;
}

/** Listens as a browser does. */
async function listen(query: string, lastId?: string) {
  const headers = { cookie: ui.cookie(), ...(lastId === undefined ? {} : { 'last-event-id': lastId }) };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: '127.0.0.1', port: ui.port, path: `/api/events${query}`, headers }, resolve).on('error', reject);
  });
  const heard: Heard[] = [];
  let text = '';
  response.setEncoding('utf8').on('error', () => {});
  response.on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const fields = Object.fromEntries(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => line.split(/: (.*)/s)),
      );
      if (fields['event']) heard.push({ id: fields['id']!, event: fields['event']! });
      text = text.slice(end + 2);
    }
  });
  const until = async (event: string, from = 0) => {
    for (let tries = 0; tries < 400; tries++) {
      const at = heard.findIndex((one, index) => index >= from && one.event === event);
      if (at !== -1) return at;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`no ${event} in ${JSON.stringify(heard)}`);
  };
  return { status: response.statusCode, heard, until, stop: () => response.destroy() };
}

const show = async (runId: string) => (await ui.look(`/api/runs/${runId}`)).json<LiveRun>();
const runs = async () =>
  (await ui.look('/api/runs')).json<{
    runs: { runId: string; state: string; executed: number }[];
  }>().runs;

/** Goes on when the file `go` is there. */
const SLOW = {
  name: 'slow',
  phases: [
    ticking('a'),
    { id: 'b', type: 'script', run: 'while [ ! -e go ]; do sleep 0.05; done; bin/tick b', dependsOn: ['a'] },
  ],
};

it('a run appears in the list, is shown while it goes, and ends', async () => {
  const list = await listen('');
  await list.until('runs');
  const handle = await rig.start(SLOW);
  await list.until('runs', 1);
  const [listed] = await runs();
  expect(listed).toMatchObject({ state: 'running' });
  const { runId } = listed!;
  const page = await listen(`?run=${runId}`);
  await page.until('run');
  for (let tries = 0; rig.counts()['a'] === undefined && tries < 200; tries++)
    await new Promise((r) => setTimeout(r, 20));
  const going = await show(runId);
  expect(going.view.state).toBe('running');
  const seen = page.heard.length;
  rig.write('go', '');
  await handle.result;
  await page.until('run', seen);
  const ended = await show(runId);
  expect([ended.view.state, ended.view.phases.map(({ state }) => state)]).toEqual(['success', ['done', 'done']]);
  expect(await runs()).toEqual([expect.objectContaining({ runId, state: 'success', executed: 2 })]);
  expect(rig.counts()).toEqual({ a: 1, b: 1 });
  for (const one of [list, page]) one.stop();
});

it('a browser that slept is told once what it missed, and nothing if it missed nothing', async () => {
  const { runId } = await rig.run({ name: 'f', phases: [ticking('a')] });
  const first = await listen(`?run=${runId}`);
  const at = await first.until('run');
  const { id } = first.heard[at]!;
  first.stop();
  const same = await listen(`?run=${runId}`, id);
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(same.heard).toEqual([]);
  same.stop();
  const warning = { type: 'warning', at: 1, message: 'said while it slept' };
  appendFileSync(journalOf(rig.project, runId), `${JSON.stringify(warning)}\n`.repeat(50));
  const back = await listen(`?run=${runId}`, id);
  await back.until('run');
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(back.heard.map(({ event }) => event)).toEqual(['run']);
  expect((await show(runId)).view.warnings).toHaveLength(50);
  back.stop();
});

it('the state of a page says from when on it wants to hear: nothing is lost in between', async () => {
  const { runId } = await rig.run({ name: 'f', phases: [ticking('a')] });
  const { mark } = await show(runId);
  appendFileSync(journalOf(rig.project, runId), `${JSON.stringify({ type: 'warning', at: 1, message: 'x' })}\n`);
  const page = await listen(`?run=${runId}&since=.${mark}`);
  await page.until('run');
  page.stop();
});

it('a run that is removed while it is shown', async () => {
  const { runId } = await rig.run({ name: 'f', phases: [ticking('a')] });
  const page = await listen(`?run=${runId}`);
  await page.until('run');
  rmSync(runFolder(rig.project, runId), { recursive: true });
  await page.until('gone');
  const gone = await ui.look(`/api/runs/${runId}`);
  expect([gone.status, await runs()]).toEqual([404, []]);
  page.stop();
});

it('a journal that is cut is read anew, and one that is cut in the middle of a line is shown so far', async () => {
  const { runId } = await rig.run({ name: 'f', phases: [ticking('a'), ticking('b', { dependsOn: ['a'] })] });
  const path = journalOf(rig.project, runId);
  expect((await show(runId)).view.phases.map(({ state }) => state)).toEqual(['done', 'done']);
  const lines = readFileSync(path, 'utf8').split('\n');
  const firstOfB = lines.findIndex((line) => line.includes('"phase":"b"'));
  truncateSync(path, Buffer.byteLength(lines.slice(0, firstOfB).join('\n')) + 20);
  const { view } = await show(runId);
  // Its owner, this process, is alive, and it has no end any more.
  expect([view.state, view.phases.map(({ state }) => state)]).toEqual(['running', ['done', 'waiting']]);
});

it('a journal of an older format, or that is none, is shown as far as it goes', async () => {
  const { runId } = await rig.run({ name: 'f', phases: [ticking('a')] });
  const path = journalOf(rig.project, runId);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('"version":1', '"version":0'));
  expect((await show(runId)).view.notes.join()).toContain('format 0');
  for (const broken of ['', 'garbage\n', '{}\n', '[]\n', '\0\0\0', '{"type":"run"}\n']) {
    writeFileSync(path, broken);
    const { status } = await ui.look(`/api/runs/${runId}`);
    expect([broken, status, await runs()]).toEqual([broken, 404, []]);
  }
});

it('no more listeners than it can serve, and one that went away makes room', async () => {
  const listeners = await Promise.all(Array.from({ length: 70 }, () => listen('')));
  const turnedAway = listeners.filter(({ status }) => status === 503);
  expect(turnedAway).toHaveLength(6);
  for (const one of listeners) one.stop();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const again = await listen('');
  expect(again.status).toBe(200);
  again.stop();
});

it('a journal of 100 MB with hostile names: others are answered meanwhile, and memory is bounded', async () => {
  const { runId } = await rig.run({ name: 'f', phases: [ticking('a')] });
  const path = journalOf(rig.project, runId);
  const unit = readFileSync(path, 'utf8')
    .split('\n')
    .find((line) => line.startsWith('{"type":"phase"'))!;
  for (let part = 0; part < 100; part++) {
    const lines = Array.from({ length: 10 }, (_, index) => {
      const name = `<script>\u001b[2J${part}-${index}`;
      const output = { text: `${index}`.repeat(100_000), json: null };
      return JSON.stringify({ ...JSON.parse(unit), type: 'unit', unit: name, output });
    });
    appendFileSync(path, `${lines.join('\n')}\n`);
  }
  const before = process.memoryUsage().rss;
  const shown = show(runId);
  const started = Date.now();
  expect((await ui.ask('/')).status).toBe(200);
  const waited = Date.now() - started;
  const { view } = await shown;
  const took = Date.now() - started;
  expect(view.phases[0]!.units).toHaveLength(1_000);
  expect(took).toBeGreaterThan(waited);
  expect(waited).toBeLessThan(1_000);
  expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(250);
  // What was read is not read again.
  const again = Date.now();
  await show(runId);
  expect(Date.now() - again).toBeLessThan(took);
});

it('a browser that does not read is waited for: nothing piles up', async () => {
  let stream: EventStream | undefined;
  let response: ServerResponse | undefined;
  const server = createServer((_, opened) => {
    response = opened;
    stream = new EventStream(opened);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const slow = connect((server.address() as AddressInfo).port, '127.0.0.1');
  slow.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  slow.pause();
  while (!stream) await new Promise((resolve) => setTimeout(resolve, 5));
  let sent = 0;
  const sending = (async () => {
    for (; sent < 100; sent++) await stream.send({ id: `${sent}`, event: 'run', data: 'x'.repeat(2 ** 20) });
  })();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(sent).toBeLessThan(20);
  expect(response!.writableLength).toBeLessThan(4 * 2 ** 20);
  slow.destroy();
  await sending;
  server.close();
});
