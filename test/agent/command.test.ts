import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunner } from '../../src/agent/create-runner.js';
import type { RunnerRequest } from '../../src/agent/runner.js';
import { EMPTY_TRANSCRIPT, toResult } from '../../src/agent/transcript.js';
import type { RunnerConfig } from '../../src/model/config.js';
import { brand, until } from '../support/processes.js';
import { projectIn, requestIn } from '../support/runner-request.js';

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'command-runner-')));
  mkdirSync(join(root, 'deep'));
  writeFileSync(join(root, 'agent.sh'), 'echo "in $(pwd): $(cat)"\n');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function run(config: Partial<RunnerConfig>, more: Partial<RunnerRequest> = {}, env: Record<string, string> = {}) {
  const project = projectIn(root, env);
  return createRunner('mine', { type: 'command', ...config }, project).run(requestIn(project, more));
}
const sh = (script: string, more: Partial<RunnerRequest> = {}, config: Partial<RunnerConfig> = {}) =>
  run({ command: ['sh', '-c', script], env: ['ANSWER', 'TEST_BRAND'], ...config }, more);
const json = (answer: unknown, more = '') =>
  sh(
    `cat > /dev/null; printf '%s' "$ANSWER"; ${more}`,
    { env: { PATH: process.env['PATH'], ANSWER: JSON.stringify(answer) } },
    { format: 'json' },
  );

describe('format text', () => {
  test('the prompt comes on stdin, and stdout is the answer without its line ends', async () => {
    const result = await sh('cat; echo; echo', { task: 'wörld\nline 2' });
    expect(result).toMatchObject({ text: 'wörld\nline 2', stopReason: 'complete', turns: 1 });
    expect(result.usage.usd).toBeUndefined();
  });

  test('a prompt of 5 MB arrives whole', async () => {
    expect((await sh('wc -c', { task: 'x'.repeat(5_000_000) })).text.trim()).toBe('5000000');
  });

  test('the rest comes in variables; what was not asked for is unset, though this process has it', async () => {
    const script =
      'echo "$TASKFLOW_SYSTEM_PROMPT|$TASKFLOW_MODEL|$TASKFLOW_THINKING|$TASKFLOW_TOOLS|${TASKFLOW_MODEL-unset}"';
    const asked = { systemPrompt: 'be\nbrief', model: 'm', thinking: 'low', tools: ['read', 'bash'] };
    expect((await sh(script, asked)).text).toBe('be\nbrief|m|low|read,bash|m');
    const env = { PATH: process.env['PATH'], TASKFLOW_MODEL: 'of an outer run' };
    expect((await sh(script, { env })).text).toBe('||||unset');
  });

  test('a status other than 0 is a failure with the tail of stderr', async () => {
    const result = await sh('echo some text; echo because >&2; exit 4');
    expect(result).toMatchObject({ stopReason: 'error', failure: { code: 'exit', detail: 'because' } });
    expect(result.failure?.transient ?? false).toBe(false);
  });

  test('an overloaded provider behind it, said on stderr, is transient', async () => {
    expect((await sh('echo "HTTP 429 Too Many Requests" >&2; exit 1')).failure?.transient).toBe(true);
  });
});

describe('format json', () => {
  test('all fields of a result arrive', async () => {
    const answer = {
      text: 'done',
      model: 'm-1',
      usage: { inputTokens: 10, cachedInputTokens: 2, outputTokens: 3, usd: 0.5 },
      stopReason: 'complete',
      filesRead: ['a.txt'],
      filesWritten: ['b.txt'],
      turns: 4,
    };
    expect(await json(answer)).toEqual({ ...answer, usedTools: true, permissionDenied: false });
  });

  test('only text has to be there; money that was not named is unknown', async () => {
    const result = await json({ text: 'just that' });
    expect(result).toMatchObject({ text: 'just that', stopReason: 'complete' });
    expect(result.usage).toEqual({ inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 });
  });

  test.each(['length', 'refusal'] as const)('stopReason %s is not a success', async (stopReason) => {
    expect(await json({ text: 'half', stopReason })).toMatchObject({ stopReason, failure: { code: stopReason } });
  });

  test('an error is reported in its own words, and whether it passes', async () => {
    const said = await json({ error: 'out of ideas' }, 'exit 1');
    expect(said).toMatchObject({ stopReason: 'error', failure: { message: 'mine: out of ideas' } });
    expect((await json({ error: { message: 'come back later', transient: true } })).failure?.transient).toBe(true);
    expect((await json({ stopReason: 'error' })).stopReason).toBe('error');
  });

  test.each([
    [{ txt: 'typo' }, /text must be/],
    [{ text: 'x', stopReason: 'done' }, /stopReason must be/],
    [{ text: 'x', filesWritten: 'b.txt' }, /filesWritten must be/],
    [{ text: 'x', usage: 7 }, /usage must be/],
  ])('an answer that is not as agreed (%j) says what is wrong', async (answer, message) => {
    expect((await json(answer)).failure?.message).toMatch(message);
  });

  test('garbage is a failure with a sample', async () => {
    const result = await sh('echo "Segmentation fault, probably"', {}, { format: 'json' });
    expect(result.failure?.message).toContain('Segmentation fault');
    expect((await json(['a list'])).failure?.message).toContain('a list');
  });
});

describe('where it runs', () => {
  const command = ['sh', 'agent.sh'];
  test('in the project root', async () => {
    expect((await run({ command }, { task: 'hi' })).text).toBe(`in ${root}: hi`);
  });

  test('in the cwd of the phase, with relative paths of its argv seen from the root', async () => {
    expect((await run({ command }, { task: 'hi', cwd: join(root, 'deep') })).text).toBe(`in ${join(root, 'deep')}: hi`);
    const cwd = join(root, 'deep');
    const flag = await run({ command: ['echo', '--script=agent.sh', 'word', '-n', './agent.sh'] }, { cwd });
    expect(flag.text).toBe(`--script=${root}/agent.sh word -n ${root}/agent.sh`);
  });

  test('with the variables that the configuration names, from the project', async () => {
    const command = ['sh', '-c', 'echo "$MY_TOKEN"'];
    const env = { PATH: process.env['PATH'] };
    expect((await run({ command, env: ['MY_TOKEN'] }, { env }, { MY_TOKEN: 't' })).text).toBe('t');
    expect((await run({ command }, { env }, { MY_TOKEN: 't' })).text).toBe('');
  });

  test('a program that is not there is a failure that says so', async () => {
    expect((await run({ command: ['no-such-agent'] })).failure).toMatchObject({ code: 'spawn' });
    expect((await run({ command: [] })).failure?.code).toBe('spawn');
  });
});

describe('an agent that was stopped', () => {
  test('reports what it said, on its error stream or else in its answer', async () => {
    const heard = await sh('echo so far; echo asking again >&2; exec sleep 60', { idleTimeoutMs: 1_000 });
    expect(heard.failure).toMatchObject({ code: 'idle-timeout', detail: 'asking again' });
    const silent = await sh('echo so far; exec sleep 60', { idleTimeoutMs: 1_000 });
    expect(silent.failure).toMatchObject({ code: 'idle-timeout', detail: 'so far' });
  });

  test('names the tool that it was waiting for', () => {
    const bash = { id: '1', name: 'bash', detail: 'npm\ntest' };
    const failure = { code: 'timeout', message: 'did not end within 1s' } as const;
    const result = toResult(
      { ...EMPTY_TRANSCRIPT, text: 'Now the tests.\n', toolsUnderWay: { 1: bash } },
      { who: 'pi', failure },
    );
    expect(result.failure?.detail).toBe('Now the tests.\n(under way: bash npm test)');
  });
});

describe('when it returns, nothing of it is left:', () => {
  const loop = 'while :; do sleep 0.05; done';
  const stubborn = `trap '' TERM; setsid sh -c 'trap "" TERM; ${loop}' & ${loop}`;

  test('after a timeout', async () => {
    const { env, live } = brand();
    expect((await sh('sleep 60 & sleep 61', { env, timeoutMs: 100 })).failure).toMatchObject({ code: 'timeout' });
    expect(live()).toEqual([]);
  });

  test('after silence', async () => {
    const { env, live } = brand();
    expect((await sh('sleep 60', { env, idleTimeoutMs: 100 })).failure?.message).toContain(
      'mine said nothing for 100ms',
    );
    expect(live()).toEqual([]);
  });

  test('after an abort, though it ignores TERM', async () => {
    const { env, live } = brand();
    const abort = new AbortController();
    const pending = sh(stubborn, { env, signal: abort.signal });
    await until(() => live().length >= 3);
    abort.abort();
    expect(await pending).toMatchObject({ stopReason: 'cancelled', failure: { code: 'interrupted' } });
    expect(live()).toEqual([]);
  }, 20_000);

  test('after it ended well and left a daemon behind', async () => {
    const { env, live } = brand();
    expect((await sh('(setsid sleep 60 >/dev/null 2>&1 </dev/null &); echo ok', { env })).text).toBe('ok');
    expect(live()).toEqual([]);
  });
});

test('argv, format and version are its settings; nothing else is', () => {
  const config: RunnerConfig = { type: 'command', command: ['a', 'b'], version: '3', env: ['TOKEN'], concurrency: 2 };
  const runner = createRunner('mine', config, projectIn(root));
  expect(runner.settings).toEqual({ command: ['a', 'b'], format: 'text', version: '3' });
  expect(runner.concurrency).toBe(2);
  expect(runner.reportsCost).toBe(false);
  expect(createRunner('mine', { ...config, format: 'json' }, projectIn(root)).reportsCost).toBe(true);
});
