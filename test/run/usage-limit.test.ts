import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadFlow, runBatch } from '../../src/index.js';
import type { RunEvent } from '../../src/model/event.js';
import { traceRun } from '../../src/run/history/trace.js';
import { LIMITED_CONFIG, limitedAgent, readCalls } from '../support/limited-agent.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { createRig, phaseOf, type Rig, type RigOptions, ticking } from '../support/rig.js';

const WAIT_MS = 1_500;

let server: ModelServer;
let rig: Rig;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  rig = createRig();
  rig.write('.pi/taskflows/config.yaml', LIMITED_CONFIG);
  limit();
});
afterEach(() => {
  server.reset();
  rig.remove();
});

const limit = (more: object = {}) => rig.write('bin/limited', limitedAgent({ ms: WAIT_MS, ...more }), 0o755);
const calls = () => readCalls(existsSync(join(rig.root, 'calls')) ? rig.read('calls') : '');
const agent = (id: string, more: object = {}) => ({ id, type: 'agent', task: `do ${id}`, ...more });
const flow = (phases: object[], more: object = {}) => ({ name: 'limits', ...more, phases });
const map = { id: 'each', type: 'map', over: [1, 2, 3, 4, 5, 6], task: 'do {{item}}' };

async function run(what: object, options: RigOptions = {}) {
  const events: RunEvent[] = [];
  const startedAt = Date.now();
  const result = await rig.run(what, { ...options, onEvent: (event) => events.push(event) });
  const limits = events.filter((event) => event.type === 'limit');
  return { result, events, limits, tookMs: Date.now() - startedAt };
}

describe('a usage limit', () => {
  it('is waited for, and the phase is done afterwards', async () => {
    const { result, limits, tookMs, events } = await run(flow([agent('a'), ticking('b', { dependsOn: ['a'] })]));
    expect(result).toMatchObject({ status: 'success', output: expect.stringContaining('said b') });
    expect(calls()).toMatchObject({ refused: 1, answered: 1 });
    expect(tookMs).toBeGreaterThan(WAIT_MS - 100);
    const until = Number(rig.read('until'));
    expect(limits).toEqual([
      expect.objectContaining({ runner: 'limited', phase: 'a', until, known: true, waits: true }),
    ]);
    expect(events.some(({ type }) => type === 'retry')).toBe(false);
    const phase = phaseOf(result, 'a');
    // Both attempts are paid; the time is that of the calls.
    expect(phase).toMatchObject({ attempts: 2, usage: { usd: 0.03 } });
    expect(phase.durationMs).toBeLessThan(WAIT_MS - 300);
  });

  it('is in the journal, with the attempt that met it', async () => {
    const { result } = await run(flow([agent('a')]));
    const [trace] = traceRun(rig.project, result.runId)!.phases;
    expect(trace?.attempts).toMatchObject([{ attempt: 1, failure: { code: 'usage-limit' }, usage: { usd: 0.01 } }]);
    const journal = readFileSync(join(rig.root, '.pi/taskflows/runs', result.runId, 'journal.jsonl'), 'utf8');
    expect(journal).toMatch(/"type":"limit".*"runner":"limited"/);
  });

  it('does not use up `retry`, and is no error that it retries', async () => {
    const { result } = await run(flow([agent('a', { retry: { max: 0 } })]));
    expect(result.status).toBe('success');
  });

  it('holds for all items at one gate: one goes first, then the others', async () => {
    limit({ workMs: 400 });
    const { result, limits } = await run(flow([map], { concurrency: 3 }));
    expect(result.status).toBe('success');
    const { refused, answered, lines } = calls();
    // Up to three are under way when the first one is refused.
    expect([1, 2, 3]).toContain(refused);
    expect(answered).toBe(6);
    expect(limits).toHaveLength(1);
    const until = Number(rig.read('until'));
    const after = lines.filter(({ time }) => time >= until);
    // Nothing between the begin and the end of the one that went first.
    expect(after.slice(0, 2).map(({ what }) => what)).toEqual(['begin', 'end']);
  });

  it('holds no slot: scripts go on meanwhile', async () => {
    rig.write('bin/when', '#!/bin/sh\ndate +%s%3N > when\n', 0o755);
    const script = { id: 's', type: 'script', run: ['bin/when'] };
    const { result } = await run(flow([agent('a'), script], { concurrency: 1 }));
    expect(result.status).toBe('success');
    expect(Number(rig.read('when'))).toBeLessThan(Number(rig.read('until')));
  });

  it('does not count for the time limit of a phase, nor of a flow around it', async () => {
    const inner = { id: 'n', type: 'flow', timeout: '1s', def: flow([agent('a', { timeout: '1s' })]) };
    const { result } = await run(flow([inner]));
    expect(result).toMatchObject({ status: 'success' });
    expect(calls()).toMatchObject({ refused: 1, answered: 1 });
  });

  it('a flow that does take too long is still ended', async () => {
    limit({ ms: 300, workMs: 5_000 });
    const inner = { id: 'n', type: 'flow', timeout: '1s', def: flow([agent('a')]) };
    const { result, tookMs } = await run(flow([inner]));
    expect(result.error).toMatchObject({ code: 'timeout', message: 'did not end within 1s' });
    expect(tookMs).toBeLessThan(4_000);
  });

  it('a batch has one gate for all rows', async () => {
    rig.write('row.json', JSON.stringify({ ...flow([agent('a', { task: 'do {args.n}' })]), args: { n: {} } }));
    const loaded = await loadFlow(rig.project, './row.json');
    const rows = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => ({ n }));
    const events: RunEvent[] = [];
    const handle = runBatch(rig.project, loaded, rows, { concurrency: 2 });
    for await (const event of handle.events) events.push(event);
    expect(await handle.result).toMatchObject({ status: 'success', done: 8 });
    expect(calls()).toMatchObject({ refused: 2, answered: 8 });
    expect(events.filter(({ type }) => type === 'limit')).toHaveLength(1);
  });

  it('of a server: 429 with the time in its body', async () => {
    rig.write(
      '.pi/taskflows/config.yaml',
      `runner: local\nrunners:\n  local: { type: openai, baseUrl: "${server.url}/v1", model: small }\n`,
    );
    const body = {
      error: { type: 'usage_limit_reached', message: 'The usage limit has been reached', resets_in_seconds: 1 },
    };
    server.script = (_call, index) => (index === 0 ? { status: { code: 429, times: 1, body } } : undefined);
    const { result, limits } = await run(flow([agent('a', { task: '[[reply: at last]]' })]));
    expect(result).toMatchObject({ status: 'success', output: 'at last' });
    expect(server.calls).toHaveLength(2);
    expect(limits).toHaveLength(1);
  });
});

describe('a usage limit ends', () => {
  it('with an interrupt, at once', async () => {
    limit({ ms: 60_000 });
    const controller = new AbortController();
    const handle = await rig.start(flow([agent('a')]), { signal: controller.signal });
    for await (const event of handle.events) {
      if (event.type === 'limit') controller.abort();
    }
    expect(await handle.result).toMatchObject({ status: 'interrupted' });
    expect(calls()).toMatchObject({ refused: 1, answered: 0 });
  });

  it.each([
    ['2099', { resetsAt: '4070908800' }, {}, 'limits.resetWait is 6h'],
    ['after the end of the run', { ms: 60_000 }, { timeoutMs: 20_000 }, 'is what --timeout leaves'],
    [
      'later than the settings allow',
      { ms: 60_000 },
      { config: 'limits: { resetWait: 30s }\n' },
      'limits.resetWait is 30s',
    ],
  ])(
    'as a failure at once when it resets %s',
    async (_what, agentMore, { config = '', ...options }: RigOptions & { config?: string }, message) => {
      limit(agentMore);
      rig.write('.pi/taskflows/config.yaml', LIMITED_CONFIG + config);
      const { result, tookMs } = await run(flow([map], { concurrency: 1 }), { ...options, keepGoing: true });
      expect(result).toMatchObject({ status: 'failed' });
      expect(result.error?.message).toContain(message);
      expect(tookMs).toBeLessThan(10_000);
      // The items after the first are not even tried.
      expect(calls()).toMatchObject({ refused: 1, answered: 0 });
    },
  );

  it('for a phase that must not be repeated', async () => {
    const { result } = await run(flow([agent('a', { idempotent: false })]));
    expect(result).toMatchObject({ status: 'failed', error: { code: 'usage-limit' } });
    expect(calls()).toMatchObject({ refused: 1, answered: 0 });
  });
});

describe('without waiting', () => {
  it('the run pauses, and goes on when it is run again; nothing is paid twice', async () => {
    limit({ ms: 800 });
    const what = flow(
      [ticking('before'), { ...map, dependsOn: ['before'] }, ticking('after', { dependsOn: ['each'] })],
      {
        concurrency: 1,
      },
    );
    const first = await run(what, { waitForLimits: false });
    expect(first.result).toMatchObject({ status: 'paused', error: { code: 'usage-limit', phase: 'each' } });
    expect(first.limits).toMatchObject([{ waits: false }]);
    expect(phaseOf(first.result, 'after')).toMatchObject({
      status: 'cancelled',
      reason: 'each waited for a usage limit to reset',
    });
    expect(calls()).toMatchObject({ refused: 1, answered: 0 });
    await new Promise((resolve) => setTimeout(resolve, Number(rig.read('until')) - Date.now() + 10));
    const second = await run(what);
    expect(second.result).toMatchObject({ status: 'success', continues: first.result.runId });
    expect(calls()).toMatchObject({ refused: 1, answered: 6 });
    expect(rig.counts()).toEqual({ before: 1, after: 1 });
  });

  it('what is done when the limit is met is kept', async () => {
    // Outside the project: what a phase may have read must not change in between.
    rig.write('../allowed', '2');
    rig.write('bin/limited', COUNTED_AGENT, 0o755);
    const first = await run(flow([map], { concurrency: 1 }), { waitForLimits: false });
    expect(first.result.status).toBe('paused');
    expect(phaseOf(first.result, 'each').items).toMatchObject({ executed: 3 });
    rig.write('../allowed', '99');
    expect((await run(flow([map], { concurrency: 1 }))).result.status).toBe('success');
    const answered = (count: number) => Array(count).fill('answered');
    expect(rig.read('../calls').trim().split('\n')).toEqual([...answered(2), 'refused', ...answered(4)]);
  });
});

/** Answers as many calls as it is allowed to, then meets its limit. */
const COUNTED_AGENT = `#!/bin/sh
touch ../calls
if [ $(grep -c answered ../calls) -lt $(cat ../allowed) ]; then echo answered >> ../calls; echo '{"text":"fine"}'
else echo refused >> ../calls; echo '{"error":{"message":"usage limit reached, try again in 2 hours"}}'; fi
`;
