import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/model/event.js';
import { runCli } from '../support/cli.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { createRig, phaseOf, type Rig } from '../support/rig.js';

let server: ModelServer;
let rig: Rig;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  rig = createRig();
  rig.write(
    '.pi/taskflows/config.yaml',
    `runner: local\nrunners:\n  local: { type: openai, baseUrl: "${server.url}/v1", model: small }\n` +
      '  told: { command: [bin/told], format: json }\n',
  );
});
afterEach(() => {
  server.reset();
  rig.remove();
});

const flow = (phases: object[], more: object = {}) => ({ name: 'tries', ...more, phases });
const agent = (task: string, more: object = {}) => ({ id: 'a', type: 'agent', task, ...more });
const quickly = (max: number) => ({ retry: { max, backoffMs: 1 } });

describe('a passing error of the provider', () => {
  it('is tried again by itself: 429, then an answer', async () => {
    const result = await rig.run(flow([agent('[[status: 429 times 1]] [[reply: at last]]')]));
    expect(result).toMatchObject({ status: 'success', output: 'at last' });
    expect(phaseOf(result, 'a').attempts).toBe(2);
    expect(server.calls).toHaveLength(2);
  });

  it('is waited out for as long as the provider asks', async () => {
    const startedAt = Date.now();
    const result = await rig.run(flow([agent('[[status: 503 times 1]] [[retry-after: 2]] [[reply: ok]]', quickly(1))]));
    expect(result.status).toBe('success');
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_900);
  });

  it.each([
    ['longer than an attempt of the phase may take', '[[retry-after: 20]]', { timeout: '10s' }, {}, '20s'],
    ['longer than the run has left', '[[retry-after: 60]]', {}, { timeoutMs: 20_000 }, '1m'],
  ])('is not waited out when that is %s', async (_what, wish, more, options, asked) => {
    const startedAt = Date.now();
    const task = `[[status: 429 times 9]] ${wish}`;
    const result = await rig.run(flow([agent(task, { ...quickly(3), ...more })]), options);
    expect(Date.now() - startedAt).toBeLessThan(8_000);
    expect(server.calls).toHaveLength(1);
    expect(result.error).toMatchObject({ code: 'runner', message: expect.stringContaining(`asks to wait ${asked}`) });
  });

  it('of three years is a usage limit that nobody waits for', async () => {
    const result = await rig.run(flow([agent('[[status: 429 times 9]] [[retry-after: 99999999]]', quickly(3))]));
    expect(server.calls).toHaveLength(1);
    expect(result.error).toMatchObject({ code: 'usage-limit', message: expect.stringContaining('resets in 1157d') });
  });

  it('the time of a phase is that of all its attempts, with the pauses between them', async () => {
    const script = 'bin/tick try; sleep 0.15; test "$(cat count 2>/dev/null)" = xx || { printf x >> count; exit 1; }';
    rig.write(
      'flow.json',
      JSON.stringify(flow([{ id: 's', type: 'script', run: script, retry: { max: 2, backoffMs: 400 } }])),
    );
    const { stdout, stderr } = await runCli(['run', './flow.json', '--json'], { cwd: rig.root });
    const { attempts, durationMs } = phaseOf(JSON.parse(stdout), 's');
    expect(rig.counts()).toEqual({ try: 3 });
    expect(attempts).toBe(3);
    // Three times the script, and two pauses of at least half their length.
    expect(durationMs).toBeGreaterThanOrEqual(3 * 150 + 2 * 200);
    expect(stderr).toMatch(/✔ s {2}\d.*s in 3 attempts · ran \(first time\)/);
    const trace = await runCli(['trace', 'last'], { cwd: rig.root });
    expect(trace.stdout).toMatch(/script · done · \d.*s in 3 attempts/);
  });

  it('a lost connection is one, too', async () => {
    server.script = (_call, index) => (index === 0 ? { end: 'cut', text: 'half an ans' } : undefined);
    const result = await rig.run(flow([agent('[[reply: whole]]')]));
    expect(result).toMatchObject({ status: 'success', output: 'whole' });
  });

  it('is told with the attempt, and every attempt is in the trace', async () => {
    const { traceRun } = await import('../../src/run/history/trace.js');
    const result = await rig.run(flow([agent('[[status: 500 times 9]]', quickly(2))]));
    expect(result.error).toMatchObject({ phase: 'a', code: 'runner' });
    const trace = traceRun(rig.project, result.runId)?.phases[0];
    expect(trace?.attempts.map(({ attempt, retryInMs }) => [attempt, retryInMs !== undefined])).toEqual([
      [1, true],
      [2, true],
      [3, false],
    ]);
    expect(trace?.attempts[0]?.inputs).toMatchObject({ task: '[[status: 500 times 9]]' });
  });
});

describe('what is not tried again by itself', () => {
  it('an error that stays one', async () => {
    await rig.run(flow([agent('[[status: 400 times 9]]')]));
    expect(server.calls).toHaveLength(1);
  });

  it('anything with retry: {max: 0}', async () => {
    await rig.run(flow([agent('[[status: 429 times 9]]', { retry: { max: 0 } })]));
    expect(server.calls).toHaveLength(1);
  });

  it('a phase that is not idempotent, whatever `retry` says', async () => {
    await rig.run(flow([agent('[[status: 429 times 9]]', { idempotent: false, ...quickly(3) })]));
    expect(server.calls).toHaveLength(1);
  });

  it.each([
    [true, 1],
    [false, 2],
  ])('an agent that has acted on the world (%s)', async (usedTools, calls) => {
    const answer = JSON.stringify({
      stopReason: 'error',
      usedTools,
      error: { message: 'overloaded', transient: true },
    });
    rig.write(
      'bin/told',
      `#!/bin/sh\ncat > /dev/null\nbin/tick call > /dev/null\nprintf '%s' '${answer}'\n` +
        'test $(grep -c . ../log) -lt 2\n',
      0o755,
    );
    const stop = new AbortController();
    const handle = await rig.start(flow([agent('x', { runner: 'told' })]), { signal: stop.signal });
    for await (const event of handle.events) if (event.type === 'retry' && event.attempt > 1) stop.abort();
    await handle.result;
    expect(rig.executions().length).toBe(calls);
  });

  it('a script', async () => {
    await rig.run(flow([{ id: 'a', type: 'script', run: 'bin/tick a; exit 1' }]));
    expect(rig.counts()).toEqual({ a: 1 });
  });
});

describe('an answer that is not as promised', () => {
  it('not JSON, then JSON that breaks its contract, then one that meets it', async () => {
    const replies = ['sorry', '{"n": "one"}', '{"n": 1}'];
    server.script = (_call, index) => ({ text: replies[index] ?? '' });
    const wanted = {
      output: 'json',
      expect: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    };
    const result = await rig.run(flow([agent('x', { ...wanted, ...quickly(2) })]));
    expect(result.json).toEqual({ n: 1 });
    expect(phaseOf(result, 'a')).toMatchObject({ attempts: 3, usage: { inputTokens: 300, outputTokens: 60 } });
    expect(result.spent.tokens).toBe(3 * 160);
  });

  it.each([
    ['[[length]] [[reply: cut off]]', 'length'],
    ['[[refusal]] [[reply: no]]', 'refusal'],
    ['[[reply: ]]', 'empty'],
  ])('%s fails the phase and is not kept', async (task, code) => {
    const phases = [agent(task, { cache: { scope: 'cross-run' }, retry: { max: 0 } })];
    expect((await rig.run(flow(phases))).error).toMatchObject({ code });
    await rig.run(flow(phases), { continuation: { how: 'fresh' } });
    expect(server.calls).toHaveLength(2);
  });

  it('a phase fails whole although some of its attempts cost money, and that is counted', async () => {
    const result = await rig.run(flow([agent('[[reply: prose]]', { output: 'json', ...quickly(1) })]));
    expect(result.status).toBe('failed');
    expect(result.spent.tokens).toBe(320);
  });
});

describe('a nested flow', () => {
  it('is tried again as a whole: what is done inside stays done, what failed runs again', async () => {
    rig.write(
      'sub.json',
      JSON.stringify({
        name: 'sub',
        phases: [
          { id: 'a', type: 'script', run: ['bin/tick', 'a'] },
          { id: 'b', type: 'script', dependsOn: ['a'], run: 'bin/tick b; test $(grep -c b ../log) -ge 3' },
          { id: 'c', type: 'script', dependsOn: ['b'], run: ['bin/tick', 'c', 'end'] },
        ],
      }),
    );
    const nested = (more: object) => flow([{ id: 'f', type: 'flow', use: './sub.json', ...more }]);
    const result = await rig.run(nested(quickly(2)));
    expect(result).toMatchObject({ status: 'success', output: 'end' });
    expect(rig.counts()).toEqual({ a: 1, b: 3, c: 1 });
    rig.forget();
    const mapped = flow([{ id: 'm', type: 'map', over: [1], use: './sub.json', ...quickly(2) }]);
    expect((await rig.run(mapped)).status).toBe('success');
    expect(rig.counts()).toEqual({ a: 1, b: 3, c: 1 });
  });
});

describe('a side effect inside of a nested flow', () => {
  const once = { idempotent: false };
  const post = (more: object = {}) => ({ id: 'post', type: 'script', run: 'bin/tick post; exit 1', ...once, ...more });
  const tick = (id: string, more: object = {}) => ({ id, type: 'script', run: ['bin/tick', id], ...more });
  const nested = (...phases: object[]) => {
    rig.write('sub.json', JSON.stringify({ name: 'sub', phases }));
    return { id: 'f', type: 'flow', use: './sub.json', ...quickly(2) };
  };

  it('that failed is not tried again by the retries of what is around it', async () => {
    const inner = { id: 'g', type: 'flow', def: { phases: [post()] } };
    for (const phase of [nested(post()), nested(inner), { ...nested(post()), type: 'map', over: [1] }]) {
      rig.forget();
      const result = await rig.run(flow([phase]), { continuation: { how: 'fresh' } });
      expect(result.error?.message).toContain('(not tried again: something in it is not idempotent)');
      expect(rig.counts()).toEqual({ post: 1 });
    }
    rig.forget();
    const tolerated = nested(post({ optional: true }), {
      id: 'b',
      type: 'script',
      run: 'bin/tick b; exit 1',
      dependsOn: ['post'],
    });
    await rig.run(flow([tolerated]), { continuation: { how: 'fresh' } });
    expect(rig.counts()).toEqual({ post: 1, b: 1 });
  });

  it('that is done stays done while the rest is tried again', async () => {
    const flaky = { id: 'b', type: 'script', dependsOn: ['post'], run: 'bin/tick b; test $(grep -c b ../log) -ge 3' };
    const result = await rig.run(flow([nested(tick('post', once), flaky)]));
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({ post: 1, b: 3 });
  });
});

describe('a nested flow whose result is not what was promised', () => {
  const counting = { id: 'n', type: 'script', run: 'bin/tick n > /dev/null; grep -c n ../log' };
  const promising = (phases: object[], more: object = {}) => {
    rig.write('sub.json', JSON.stringify({ name: 'sub', phases }));
    const promise = { output: 'json', expect: { type: 'number', minimum: 3 } };
    return { id: 'f', type: 'flow', use: './sub.json', ...promise, ...quickly(4), ...more };
  };

  it('is done again by a retry, stored or not: what is inside would come to the same', async () => {
    const kept = { ...counting, cache: { scope: 'cross-run', fingerprint: [] } };
    for (const inner of [counting, kept]) {
      rig.forget();
      const result = await rig.run(flow([promising([inner])]), { continuation: { how: 'fresh' } });
      expect(result).toMatchObject({ status: 'success', json: 3 });
      expect(rig.counts()).toEqual({ n: 3 });
    }
    const again = await rig.run(flow([promising([kept])]), { continuation: { how: 'fresh' } });
    expect(again).toMatchObject({ status: 'success', json: 3, reuse: { executed: 0 } });
  });

  it('is not tried again when something in it is not idempotent, and says so', async () => {
    const phases = [{ ...counting, idempotent: false }];
    const result = await rig.run(flow([promising(phases)]));
    const message = expect.stringContaining('(not tried again: something in it is not idempotent)');
    expect(result.error).toMatchObject({ code: 'expect', message });
    expect(rig.counts()).toEqual({ n: 1 });
  });

  it('a dry run does not wait for attempts that it does not make', async () => {
    const kept = { ...counting, cache: { scope: 'cross-run', fingerprint: [] } };
    const nested = (more: object) => flow([promising([kept], more)]);
    await rig.run(nested({ retry: { max: 0 } }), { continuation: { how: 'fresh' } });
    const long = nested({ retry: { max: 1, backoffMs: 3_600_000 } });
    rig.write('flow.json', JSON.stringify(long));
    const { status, stdout } = await runCli(['run', './flow.json', '--fresh', '--dry-run'], { cwd: rig.root });
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringMatching(/f +would run/) });
    expect(rig.counts()).toEqual({ n: 1 });
  });
});

describe('once another phase has failed', () => {
  const fails = { id: 'b', type: 'script', run: ['false'] };
  /** Fails when the other one has, or a little before that. */
  const flaky = (more: object) => ({ id: 'a', type: 'script', run: 'bin/tick a; exit 7', ...more });

  it('nothing is tried again, and the message says why', async () => {
    const waits = { run: 'bin/tick a; while ! test -e ../go; do sleep 0.02; done; exit 7' };
    const onEvent = (event: RunEvent) => {
      if (event.type === 'phase-end' && event.phase === 'b') rig.write('../go', '');
    };
    const result = await rig.run(flow([flaky({ ...waits, ...quickly(3) }), fails]), { onEvent });
    expect(phaseOf(result, 'a').error?.message).toBe('sh exited with status 7 (not tried again: b failed)');
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('nobody waits for an attempt that will not be made', async () => {
    const late = { ...fails, run: 'while ! test -e ../go; do sleep 0.02; done; exit 1' };
    const onEvent = (event: RunEvent) => {
      if (event.type === 'retry') rig.write('../go', '');
    };
    const backoff = { retry: { max: 1, backoffMs: 3_600_000 } };
    const result = await rig.run(flow([flaky(backoff), late]), { onEvent });
    expect(phaseOf(result, 'a')).toMatchObject({
      status: 'failed',
      error: { message: 'sh exited with status 7 (not tried again: b failed)' },
    });
  });

  it('--keep-going tries on', async () => {
    const result = await rig.run(flow([flaky(quickly(2)), fails]), { keepGoing: true });
    expect(phaseOf(result, 'a').error?.message).toBe('sh exited with status 7');
    expect(rig.counts()).toEqual({ a: 3 });
  });
});

describe('time', () => {
  it('an agent that takes too long, or says nothing for too long, is ended', async () => {
    const slow = await rig.run(flow([agent('[[hang]]', { timeout: '200ms', retry: { max: 0 } })]));
    expect(slow.error).toMatchObject({ code: 'timeout' });
    const silent = await rig.run(flow([agent('[[hang]]', { idleTimeout: '200ms', retry: { max: 0 } })]));
    expect(silent.error).toMatchObject({ code: 'idle-timeout' });
  });

  it('a limit is per attempt', async () => {
    server.script = (_call, index) => (index === 0 ? { end: 'hang' } : { text: 'quick' });
    const result = await rig.run(flow([agent('x', { timeout: '400ms', ...quickly(1) })]));
    expect(result).toMatchObject({ status: 'success', output: 'quick' });
  });
});
