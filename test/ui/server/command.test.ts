import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CacheView } from '../../../src/ui/server/cache-view.js';
import type { LiveRun } from '../../../src/ui/server/run-answers.js';
import { createTestProject, type TestProject } from '../../support/cli.js';
import { type LiveCli, linesOf, startCli } from '../../support/live-cli.js';
import { browserAt, type TestBrowser } from './support.js';

/** The real command, asked over real sockets. */

let project: TestProject;
const started: LiveCli[] = [];
beforeEach(() => {
  project = createTestProject({ 'ask.json': JSON.stringify(ASK), 'long.json': JSON.stringify(LONG) });
});
afterEach(async () => {
  for (const cli of started) cli.kill('SIGKILL');
  await Promise.all(started.splice(0).map(({ done }) => done));
  project.remove();
});

const cache = { scope: 'cross-run', observe: { exclude: ['ran-*'] } };
const ASK = {
  name: 'ask',
  phases: [
    { id: 'draft', type: 'script', run: 'echo x >> ran-draft; echo draft', cache },
    { id: 'sure', type: 'approval', task: 'Publish this? {steps.draft.output}', dependsOn: ['draft'] },
    { id: 'publish', type: 'script', run: 'echo x >> ran-publish', dependsOn: ['sure'] },
  ],
};
const LONG = { name: 'long', phases: [{ id: 'wait', type: 'script', run: 'echo x >> ran-wait; sleep 60' }] };

async function startPage(args: readonly string[] = []): Promise<TestBrowser & { readonly cli: LiveCli }> {
  const cli = startCli(['ui', '--no-open', '--port', '0', ...args], { cwd: project.root, env: { USER: 'ada' } });
  started.push(cli);
  const url = await until(() => /http:\/\/127\.0\.0\.1:\d+\/#\S+/.exec(cli.stdout())?.[0]);
  const browser = browserAt(Number(new URL(url).port));
  expect((await browser.enter(url)).status).toBe(200);
  return { ...browser, cli };
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 600; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not happen');
}

const ran = (phase: string) => linesOf(join(project.root, `ran-${phase}`)).length;
const pausedRun = async (): Promise<string> => {
  expect((await project.run(['run', 'ask.json'])).status).toBe(4);
  return lastRun();
};
const lastRun = async (): Promise<string> => {
  const { stdout } = await project.run(['runs', '--json']);
  return (JSON.parse(stdout) as { runId: string }[])[0]!.runId;
};

it('an approval: only about the text that was read, by name, and the run goes on once', async () => {
  const run = await pausedRun();
  const page = await startPage();
  const shown = (await page.look(`/api/runs/${run}`)).json<LiveRun>();
  const [question] = shown.questions;
  expect(question).toMatchObject({ phase: 'sure', text: 'Publish this? draft', decided: null });
  const decision = { run, phase: 'sure', digest: question!.digest, note: '--yes "quoted"' };
  const another = await page.post('/api/approve', { ...decision, digest: 'f'.repeat(64) });
  expect(another.json()).toMatchObject({ ok: false, said: expect.stringContaining('asks something else by now') });
  expect((await page.post('/api/approve', { ...decision, digest: undefined })).status).toBe(400);
  const approved = await page.post('/api/approve', decision);
  expect(approved.json()).toMatchObject({
    ok: true,
    said: expect.stringContaining('approved: Publish this? draft'),
    command: `taskflow approve ${run} sure '--note=--yes "quoted"'`,
  });
  const journal = readFileSync(join(project.root, '.pi/taskflows/runs', run, 'journal.jsonl'), 'utf8');
  const lines = journal.split('\n').filter((line) => line.startsWith('{"type":"decision"'));
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ decision: 'approve', by: 'ada via ui', note: '--yes "quoted"' }),
  ]);
  expect(ran('publish')).toBe(0);
  const resumed = await page.post('/api/resume', { run });
  expect(resumed.json()).toMatchObject({ ok: true, command: `taskflow resume ${run} --detach` });
  await until(() => (ran('publish') > 0 ? true : undefined));
  const [heir] = (await page.look('/api/runs')).json<{ runs: { runId: string }[] }>().runs;
  await project.run(['runs', 'wait', heir!.runId]);
  expect([ran('draft'), ran('publish')]).toEqual([1, 1]);
  expect((await page.look(`/api/runs/${run}`)).json<LiveRun>()).toMatchObject({
    continuedBy: heir!.runId,
    questions: [],
  });
  const again = await page.post('/api/resume', { run: heir!.runId, from: 'publish' });
  expect(again.json()).toMatchObject({ ok: true, command: `taskflow resume ${heir!.runId} --detach --rerun=publish` });
  await until(() => (ran('publish') === 2 ? true : undefined));
  await project.run(['runs', 'wait', await lastRun()]);
  expect([ran('draft'), ran('publish')]).toEqual([1, 2]);
  const compared = await page.look(`/api/runs/${await lastRun()}/compare`);
  expect(compared.json()).toMatchObject({ before: { runId: heir!.runId } });
});

const ROWS = {
  name: 'rows',
  args: { file: {}, word: { default: 'none' }, token: { secret: true, default: 'x' } },
  phases: [
    {
      id: 'read',
      type: 'script',
      run: ['sh', '-c', 'echo x >> ran-$0-$1; test $1 = good || test -e fixed', '{args.word}', '{args.file}'],
    },
  ],
};
const batch = async (...args: string[]) => {
  const words = ['batch', 'rows.json', '--over', 'rows.txt', '--as', 'file', 'word=deep', ...args];
  expect((await project.run(words, { input: 'good\nbad\n' })).status).toBe(1);
  return lastRun();
};

it('a batch goes on with the same rows: flags that decide them are given again, what is done stays done', async () => {
  project.write('rows.json', JSON.stringify(ROWS));
  project.write('rows.txt', 'good\nbad\n');
  const superseded = await batch();
  const run = await batch();
  const page = await startPage();
  const command = 'taskflow batch rows.json --over rows.txt --as=file --arg=word=deep --resume';
  const shown = async (id: string) => (await page.look(`/api/runs/${id}`)).json<LiveRun>().batch;
  expect(await shown(run)).toMatchObject({ command, byHand: null });
  expect(await shown(superseded)).toBeNull();
  expect((await project.run(['runs', 'show', run])).stdout).toContain(command);
  project.write('fixed', '');
  const resumed = await page.post('/api/resume', { run });
  expect(resumed.json()).toMatchObject({ ok: true });
  await project.run(['runs', 'wait', await lastRun()]);
  expect([ran('deep-good'), ran('deep-bad')]).toEqual([2, 3]);
  expect((await page.look(`/api/runs/${run}`)).json<LiveRun>().continuedBy).toBe(await lastRun());
});

it('a batch whose rows nobody kept is for a terminal: no secret, and no other flag of a journal', async () => {
  project.write('rows.json', JSON.stringify(ROWS));
  project.write('rows.txt', 'good\nbad\n');
  const run = await batch('token=hunter2');
  const journal = join(project.root, '.pi/taskflows/runs', run, 'journal.jsonl');
  expect(readFileSync(journal, 'utf8')).not.toContain('hunter2');
  writeFileSync(journal, readFileSync(journal, 'utf8').replace('"--as=file"', '"--as=file","--yes","-y","--root=/"'));
  const page = await startPage();
  const command = 'taskflow batch rows.json --over rows.txt --as=file --arg=word=deep --arg=token=… --resume';
  expect((await page.look(`/api/runs/${run}`)).json<LiveRun>().batch).toMatchObject({
    command: command.replace('--arg=token=…', "'--arg=token=…'"),
    byHand: 'a secret argument has to be given again',
  });
  expect((await page.post('/api/resume', { run })).status).toBe(409);
  const piped = await batch('--over', '-');
  expect((await page.look(`/api/runs/${piped}`)).json<LiveRun>().batch).toMatchObject({
    byHand: 'its rows came from standard input',
  });
  expect(await lastRun()).toBe(piped);
});

it('a run is cancelled as by Ctrl-C', async () => {
  const { stdout } = await project.run(['run', 'long.json', '--detach', '--json']);
  const { runId: run } = JSON.parse(stdout) as { runId: string };
  await until(() => (ran('wait') > 0 ? true : undefined));
  const page = await startPage();
  const cancelled = await page.post('/api/cancel', { run });
  expect(cancelled.json()).toMatchObject({ ok: true, command: `taskflow runs cancel ${run}` });
  expect((await page.look(`/api/runs/${run}`)).json<LiveRun>().view.state).toBe('interrupted');
});

it('the cache: what is there, what clearing would remove, and then it is cleared', async () => {
  await pausedRun();
  const page = await startPage();
  const cache = (await page.look('/api/cache')).json<CacheView>();
  expect(cache).toMatchObject({
    entries: 1,
    flows: [{ flow: 'ask', entries: 1 }],
    largest: [{ phaseId: 'draft' }],
    oldest: [{ phaseId: 'draft' }],
    evicted: { entries: 0, bytes: 0, first: [] },
  });
  const chosen = { flow: 'ask', phase: 'draft' };
  const preview = await page.post('/api/clear', { ...chosen, preview: true });
  expect(preview.json()).toMatchObject({
    ok: true,
    said: expect.stringMatching(/^would remove 1 entry, /),
    command: 'taskflow cache clear ask --phase=draft --dry-run',
  });
  expect((await page.look('/api/cache')).json<CacheView>().entries).toBe(1);
  expect((await page.post('/api/clear', chosen)).json()).toMatchObject({ ok: true });
  expect((await page.look('/api/cache')).json<CacheView>().entries).toBe(0);
  expect((await page.post('/api/clear', {})).status).toBe(400);
});

it('names that look like flags are names', async () => {
  const run = await pausedRun();
  const page = await startPage();
  const { digest } = (await page.look(`/api/runs/${run}`)).json<LiveRun>().questions[0]!;
  const answered = await page.post('/api/approve', { run, phase: '--help', digest });
  expect(answered.json()).toMatchObject({ ok: false, said: expect.stringContaining('not waiting for approval') });
  const cleared = await page.post('/api/clear', { flow: '--all' });
  expect(cleared.json()).toMatchObject({ ok: false });
  expect((await page.look('/api/cache')).json<CacheView>().entries).toBe(1);
  for (const id of ['last', '../x', `${run}/..`, 'x'.repeat(1_000)]) {
    expect([id, (await page.post('/api/cancel', { run: id })).status]).toEqual([id, 400]);
  }
});

it('--read-only shows everything and decides nothing', async () => {
  const run = await pausedRun();
  const page = await startPage(['--read-only']);
  const { digest } = (await page.look(`/api/runs/${run}`)).json<LiveRun>().questions[0]!;
  expect((await page.post('/api/approve', { run, phase: 'sure', digest })).status).toBe(403);
  expect((await page.post('/api/resume', { run })).status).toBe(403);
  const journal = readFileSync(join(project.root, '.pi/taskflows/runs', run, 'journal.jsonl'), 'utf8');
  expect(journal).not.toContain('"type":"decision"');
});

it('a port that is taken: one clear line where it was asked for, another port where not', async () => {
  const page = await startPage();
  const taken = await project.run(['ui', '--no-open', '--port', String(page.port)]);
  expect([taken.status, taken.stderr.split('\n')[0]]).toEqual([
    2,
    `taskflow ui: port ${page.port} cannot be used: another program has it, or it needs more rights`,
  ]);
  const [one, two] = [0, 1].map(() => startCli(['ui', '--no-open'], { cwd: project.root }));
  started.push(one!, two!);
  const ports = await Promise.all([one!, two!].map((cli) => until(() => /:(\d+)\//.exec(cli.stdout())?.[1])));
  expect(ports[0]).not.toBe(ports[1]);
  for (const port of ['x', '-1', '70000', '1.5']) {
    expect((await project.run(['ui', '--no-open', `--port=${port}`])).status).toBe(2);
  }
});

it('Ctrl-C ends it at once though a browser listens, and what it started goes on', async () => {
  const page = await startPage();
  const listening = page.look('/api/events').catch(() => 'cut');
  await new Promise((resolve) => setTimeout(resolve, 200));
  const began = Date.now();
  page.cli.kill('SIGINT');
  const { status } = await page.cli.done;
  expect([status, Date.now() - began < 3_000]).toEqual([0, true]);
  await listening;
});
