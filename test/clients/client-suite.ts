import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createRunner } from '../../src/agent/create-runner.js';
import type { RunnerEvent, RunnerRequest } from '../../src/agent/runner.js';
import { assembleFlow, loadFlow, openProject, runFlow } from '../../src/index.js';
import type { RunnerConfig } from '../../src/model/config.js';
import { TracedProcess } from '../../src/observe/traced.js';
import { type ModelServer, startModelServer, USAGE } from '../support/model-server.js';
import { brand, until } from '../support/processes.js';
import { projectIn, requestIn } from '../support/runner-request.js';
import { STRACE } from '../support/traced.js';

export interface ClientSetup {
  readonly type: 'pi' | 'claude' | 'codex';
  readonly model: string;
  readonly config?: Partial<RunnerConfig>;
  /** Writes its settings into the home folder, so that it talks to the server; returns the variables it needs. */
  readonly prepare: (home: string, serverUrl: string) => Record<string, string>;
  /** What it says of itself. */
  readonly reports: {
    readonly model: boolean;
    readonly cost: boolean;
    readonly filesRead: boolean;
    readonly version: boolean;
  };
  /** It tries again by itself after a 429. */
  readonly retries: boolean;
  /** Variables of a person with a subscription, whose limits reset; and whether it says when. */
  readonly subscription: { readonly env?: Record<string, string>; readonly saysWhen: boolean };
}

const BIN = fileURLToPath(new URL('./node_modules/.bin/', import.meta.url));

/** One suite for all clients: whatever they print, the results mean the same. */
export function describeClient(setup: ClientSetup): void {
  let server: ModelServer;
  let root: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    server = await startModelServer();
    root = realpathSync(mkdtempSync(join(tmpdir(), `client-${setup.type}-`)));
    mkdirSync(join(root, 'home'));
    mkdirSync(join(root, 'project'));
    env = setup.prepare(join(root, 'home'), server.url);
  });
  afterEach(() => server.reset());
  afterAll(async () => {
    await server.close();
    rmSync(root, { recursive: true, force: true });
  });

  function call(task: string, more: Partial<RunnerRequest> = {}, account: Record<string, string> = env) {
    const { env: branded, live } = brand();
    const variables = { ...account, ...branded, HOME: join(root, 'home'), PATH: `${BIN}:${process.env['PATH']}` };
    const project = projectIn(join(root, 'project'), variables);
    const named = [...(setup.config?.env ?? []), ...Object.keys(branded)];
    const config: RunnerConfig = { type: setup.type, model: setup.model, ...setup.config, env: named };
    const result = createRunner(setup.type, config, project).run(requestIn(project, { task, ...more }));
    return { result, live };
  }
  /** The result, with the proof that nothing of the client is left. */
  async function ask(task: string, more: Partial<RunnerRequest> = {}) {
    const { result, live } = call(task, more);
    const settled = await result;
    expect(live()).toEqual([]);
    return settled;
  }
  const inProject = (path: string) => relative(join(root, 'project'), resolve(root, 'project', path));

  describe(setup.type, () => {
    test('an answer, with its model, usage and cost', async () => {
      const events: RunnerEvent[] = [];
      let heard = '';
      const onText = (piece: string) => {
        heard += piece;
      };
      const result = await ask('[[reply: the answer ä 😀]]', { onEvent: (event) => events.push(event), onText });
      expect(result).toMatchObject({ text: 'the answer ä 😀', stopReason: 'complete', usedTools: false, turns: 1 });
      expect(result.failure).toBeUndefined();
      expect(result.usage).toMatchObject({
        inputTokens: USAGE.input,
        cachedInputTokens: USAGE.cached,
        outputTokens: USAGE.output,
      });
      expect(result.model).toBe(setup.reports.model ? setup.model : undefined);
      if (setup.reports.cost) expect(result.usage.usd).toBeGreaterThan(0);
      else expect(result.usage.usd).toBeUndefined();
      expect(result.clientVersion !== undefined).toBe(setup.reports.version);
      expect(events.map((event) => event.type)).toEqual(expect.arrayContaining(['turn', 'usage']));
      expect(heard).toBe('the answer ä 😀');
    });

    test('the system prompt and a task of 300 KB reach the model', async () => {
      const task = `-- ${'long '.repeat(60_000)} [[reply: read]]`;
      expect((await ask(task, { systemPrompt: 'ALWAYS "RHYME"\nä' })).text).toBe('read');
      const [request] = server.callsWith('long long');
      expect(request?.system).toContain('ALWAYS "RHYME"\nä');
      expect(request?.prompt).toContain(task.trim());
    });

    test('a file that it writes is there, and in filesWritten', async () => {
      const path = join(root, 'project', 'notes.txt');
      const result = await ask(`[[tool: write ${path} hello]] [[tool: read ${path}]] [[reply: done]]`);
      expect(result).toMatchObject({ text: 'done', stopReason: 'complete', usedTools: true, permissionDenied: false });
      expect(readFileSync(path, 'utf8').trim()).toBe('hello');
      expect(result.filesWritten.map(inProject)).toEqual(['notes.txt']);
      expect(result.filesRead.map(inProject)).toEqual(setup.reports.filesRead ? ['notes.txt'] : []);
      expect(result.usage.outputTokens).toBe(3 * USAGE.output);
    });

    test.skipIf(STRACE === undefined)('everything that it looks at is seen, whichever tool it uses', async () => {
      const project = join(root, 'project');
      mkdirSync(join(project, 'sub'), { recursive: true });
      for (const name of ['by-tool.txt', 'by-shell.txt', 'sub/listed.txt']) writeFileSync(join(project, name), name);
      const trace = new TracedProcess({ strace: STRACE!, root: project });
      const shell = 'cat by-shell.txt; ls sub; cat missing.txt; echo x > made.txt; true';
      const path = join(project, 'by-tool.txt');
      const result = await ask(`[[tool: read ${path}]] [[tool: bash ${shell}]] [[reply: seen]]`, { trace });
      expect(result).toMatchObject({ text: 'seen', stopReason: 'complete' });
      const { reads, lists, absent, writes, ...rest } = trace.observation()!;
      expect(rest).toEqual({ source: 'system', complete: true, present: rest.present });
      expect(reads).toEqual(expect.arrayContaining(['by-shell.txt', 'by-tool.txt']));
      expect(lists).toContainEqual({ path: 'sub', own: [] });
      expect(absent).toContain('missing.txt');
      expect(writes).toContain('made.txt');
      for (const name of ['by-tool.txt', 'by-shell.txt', 'sub', 'made.txt']) {
        rmSync(join(project, name), { recursive: true });
      }
    });

    test.skipIf(STRACE === undefined)(
      'an undeclared file that it reads decides whether it is asked again',
      async () => {
        const folder = join(root, 'observed');
        for (const name of ['.pi', 'other']) mkdirSync(join(folder, name), { recursive: true });
        const unread = (text: string) => writeFileSync(join(folder, 'other/unread.txt'), text);
        unread('one');
        const variables = { ...env, HOME: join(root, 'home'), PATH: `${BIN}:${process.env['PATH']}` };
        const project = openProject(folder, variables);
        const runner = { type: setup.type, model: setup.model, ...setup.config };
        const config = { runner: 'mine', runners: { mine: runner } };
        const data = (text: string) => writeFileSync(join(folder, 'data.txt'), text);
        const shell = '[[tool: bash cat hint.txt; true]]';
        const task = `Look. [[tool: read ${join(folder, 'data.txt')}]] ${shell} [[reply: seen]]`;
        const phases = [{ id: 'look', task, tools: ['read', 'bash'], cache: { scope: 'cross-run', fingerprint: [] } }];
        writeFileSync(join(folder, 'flow.json'), JSON.stringify({ name: 'look', phases }));
        const reasonOf = async () => {
          const before = server.calls.length;
          const flow = await loadFlow(project, './flow.json', { config });
          const { status, phases: [phase] = [] } = await runFlow(project, flow).result;
          expect(status).toBe('success');
          expect(phase?.cacheHit === null).toBe(server.calls.length > before);
          return phase?.cacheHit ?? phase?.reason;
        };
        data('one');
        await reasonOf();
        expect(await reasonOf()).toBe('cross-run');
        data('two');
        expect(await reasonOf()).toContain('data.txt');
        data('one');
        expect(await reasonOf()).toBe('cross-run');
        writeFileSync(join(folder, 'hint.txt'), 'new');
        // Some clients list the folder that they start in: then the new name is news by itself.
        expect(await reasonOf()).not.toBe('cross-run');
        unread('two');
        expect(await reasonOf()).toBe('cross-run');
      },
    );

    test('a refusal', async () => {
      const result = await ask('[[refusal]] [[reply: I cannot]]');
      expect(result).toMatchObject({ stopReason: 'refusal', failure: { code: 'refusal' } });
    });

    test('an answer that is cut off', async () => {
      const result = await ask('[[length]] [[reply: half of it]]');
      expect(result).toMatchObject({ stopReason: 'length', failure: { code: 'length' } });
    });

    test('429, then success', async () => {
      const task = '[[status: 429 times 1]] [[reply: fine]]';
      const first = await ask(task);
      if (!setup.retries) expect(first).toMatchObject({ stopReason: 'error', failure: { transient: true } });
      expect(setup.retries ? first : await ask(task)).toMatchObject({ text: 'fine', stopReason: 'complete' });
    });

    test('429 for good is transient, a bad key is not', async () => {
      expect((await ask('[[status: 429]]')).failure).toMatchObject({ code: 'runner', transient: true });
      const { failure, stopReason } = await ask('[[status: 401]]');
      expect(stopReason).toBe('error');
      expect(failure?.transient ?? false).toBe(false);
    });

    test('a usage limit, and when it resets', async () => {
      const resetsAt = Math.floor(Date.now() / 1_000) + 7_200;
      const unified = 'anthropic-ratelimit-unified';
      const headers = {
        [`${unified}-status`]: 'rejected',
        [`${unified}-reset`]: `${resetsAt}`,
        [`${unified}-representative-claim`]: 'five_hour',
      };
      const type = setup.type === 'claude' ? 'rate_limit_error' : 'usage_limit_reached';
      const error = { type, message: 'The usage limit has been reached', plan_type: 'plus', resets_at: resetsAt };
      const body = { type: 'error', error };
      server.script = () => ({ status: { code: 429, times: Number.POSITIVE_INFINITY, headers, body } });
      const { failure } = await call(
        '[[reply: x]]',
        {},
        setup.subscription.env ? { ...env, ...setup.subscription.env } : env,
      ).result;
      expect(failure).toMatchObject({ code: 'usage-limit', transient: true });
      if (!setup.subscription.saysWhen) expect(failure?.resetsAt).toBeUndefined();
      // Some say it to the minute.
      else expect(Math.abs((failure?.resetsAt ?? 0) - resetsAt * 1_000)).toBeLessThanOrEqual(60_000);
    });

    test('a lost connection is transient', async () => {
      const result = await ask('[[cut]] [[reply: this gets lost]]');
      expect(result).toMatchObject({ stopReason: 'error', failure: { code: 'runner', transient: true } });
    });

    test('a model that talks garbage', async () => {
      expect((await ask('[[garbage]]')).stopReason).toBe('error');
    });

    test('a model that never answers', async () => {
      const { failure } = await ask('[[hang]]', { timeoutMs: 3_000 });
      expect(failure).toMatchObject({ code: 'timeout', message: expect.stringContaining(setup.type) });
    });

    test('a tool that hangs and ignores TERM', async () => {
      const marker = join(root, 'project', 'stubborn');
      const command = `trap "" TERM; touch ${marker}; while :; do sleep 0.1; done`;
      const abort = new AbortController();
      const { result, live } = call(`[[tool: bash ${command}]]`, { tools: ['bash'], signal: abort.signal });
      await until(() => existsSync(marker), 20_000);
      abort.abort();
      expect((await result).stopReason).toBe('cancelled');
      expect(live()).toEqual([]);
    });

    test('an abort', async () => {
      const abort = new AbortController();
      const { result, live } = call('[[hang]]', { signal: abort.signal });
      await until(() => server.calls.length > 0, 20_000);
      expect(live().length).toBeGreaterThan(0);
      abort.abort();
      expect(await result).toMatchObject({ stopReason: 'cancelled', failure: { code: 'interrupted' } });
      expect(live()).toEqual([]);
    });

    test('a flow that it writes is checked, tried, kept and run; the next call asks nobody', async () => {
      const folder = join(root, 'assembled');
      mkdirSync(join(folder, '.pi'), { recursive: true });
      const variables = { ...env, HOME: join(root, 'home'), PATH: `${BIN}:${process.env['PATH']}` };
      const project = openProject(folder, variables);
      const runner = { type: setup.type, model: setup.model, ...setup.config };
      const config = { runner: 'mine', runners: { mine: runner } };
      const flow = JSON.stringify({ phases: [{ id: 'say', task: 'Say {args.word}' }] });
      const request = {
        task: `Say a word [[reply: Here it is: ${flow}]]`,
        input: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
        output: { type: 'string', pattern: 'Say' },
        examples: [{ input: { word: 'abc' } }],
      };
      const made = await assembleFlow(project, request, { config }).result;
      if (made.status !== 'complete') throw new Error(made.error);
      expect(made).toMatchObject({ how: 'planned', definition: { name: expect.stringContaining('say-a-word') } });
      const asked = server.calls.length;
      expect(server.callsWith('Say abc').length).toBeGreaterThan(0);
      expect(await assembleFlow(project, request, { config }).result).toMatchObject({ how: 'memory', id: made.id });
      expect(server.calls.length).toBe(asked);
      const result = await runFlow(project, made.flow, { args: { word: 'hello' } }).result;
      expect(result).toMatchObject({ status: 'success', output: expect.stringContaining('Say hello') });
    });

    test('its version', async () => {
      const project = projectIn(root, { ...env, PATH: `${BIN}:${process.env['PATH']}` });
      const answer = await createRunner(setup.type, { type: setup.type }, project).version();
      expect(answer).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    });

    test('no session of all these calls is kept', () => {
      const kept = readdirSync(join(root, 'home'), { recursive: true, encoding: 'utf8' });
      expect(kept.filter((path) => path.endsWith('.jsonl'))).toEqual([]);
      expect(readdirSync(join(root, 'project')).sort()).toEqual(['notes.txt', 'stubborn']);
    });
  });
}
