import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/model/event.js';
import type { RunResult } from '../../src/run/core/result.js';
import { startCli } from '../support/live-cli.js';
import { livingIn } from '../support/living.js';
import { createRig, phaseOf, type Rig } from '../support/rig.js';

/** With TASKFLOW_FULL=1 the lists are as long as those of the attack, and half a second means half a second. */
const FULL = process.env['TASKFLOW_FULL'] === '1';
const ITEMS = FULL ? 20_000 : 1_500;
/** On a busy machine a process that is told to end may wait for its turn. */
const SOON_MS = FULL ? 500 : 2_500;

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'starved', ...more, phases });
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const fastScripts = (count: number) => flow([{ id: 'm', type: 'map', over: numbers(count), run: ['true', '{item}'] }]);

/** Starts the command, waits until it is in the middle of it, signals, and says how long it took to end. */
async function stopped(signal: NodeJS.Signals, given: object, args: readonly string[] = [], afterMs = 700) {
  rig.write('flow.json', JSON.stringify(given));
  const live = startCli(['run', './flow.json', '--json', ...args], { cwd: rig.root });
  while (!hasRun()) await pause(10);
  await pause(afterMs);
  const at = Date.now();
  live.kill(signal);
  const { status, stdout } = await live.done;
  return { status, tookMs: Date.now() - at, result: JSON.parse(stdout) as RunResult };
}

function journalLines({ runId }: RunResult): number {
  return rig.read(`.pi/taskflows/runs/${runId}/journal.jsonl`).split('\n').length;
}

function hasRun(): boolean {
  try {
    return readdirSync(`${rig.root}/.pi/taskflows/runs`).length > 0;
  } catch {
    // No run has begun yet.
    return false;
  }
}

describe('a map of scripts that end at once', () => {
  it('is ended by --timeout when its time is over', async () => {
    rig.write('flow.json', JSON.stringify(fastScripts(ITEMS)));
    const startedAt = Date.now();
    const args = ['run', './flow.json', '--json', '--timeout', '1s'];
    const { status, stdout } = await startCli(args, { cwd: rig.root }).done;
    expect(Date.now() - startedAt).toBeLessThan(1_500 + SOON_MS);
    expect(status).toBe(1);
    const result = JSON.parse(stdout) as RunResult;
    expect(result).toMatchObject({ status: 'failed', error: { code: 'timeout' } });
    const { items } = phaseOf(result, 'm');
    expect(items?.total).toBe(ITEMS);
    expect(items?.executed).toBeLessThan(ITEMS / 2);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('is ended by %s', async (signal) => {
    const { status, tookMs, result } = await stopped(signal, fastScripts(ITEMS));
    expect(status).toBe(130);
    expect(tookMs).toBeLessThan(SOON_MS);
    expect(result.status).toBe('interrupted');
    expect(phaseOf(result, 'm').items?.executed).toBeLessThan(ITEMS / 2);
    expect(livingIn(rig.root)).toEqual([]);
  });
});

describe('a list of very many items', () => {
  it('is given up by SIGTERM while it is being made ready', async () => {
    const count = FULL ? 1_000_000 : 300_000;
    const list = { id: 'list', type: 'script', run: ['seq', '1', String(count)] };
    const mapped = { id: 'm', type: 'map', over: '{steps.list.output}', run: ['true', '{item}'] };
    const { status, tookMs, result } = await stopped('SIGTERM', flow([list, mapped]), [], FULL ? 2_000 : 500);
    expect(status).toBe(130);
    expect(tookMs).toBeLessThan(FULL ? 1_000 : SOON_MS);
    expect(phaseOf(result, 'm').status).toBe('cancelled');
    expect(journalLines(result)).toBeLessThan(count / 2);
  });
});

describe('a budget that is used up', () => {
  it('ends a long map at once, without a word about each item that nobody came to', async () => {
    const count = FULL ? 20_000 : 2_000;
    const answer = JSON.stringify({ text: 'ok', usage: { inputTokens: 10, outputTokens: 10, usd: 1 } });
    rig.write('bin/priced', `#!/bin/sh\ncat > /dev/null\nbin/tick call > /dev/null\nprintf '%s' '${answer}'\n`, 0o755);
    rig.write(
      '.pi/taskflows/config.yaml',
      'runner: p\nrunners:\n  p: { command: [bin/priced], format: json, model: m }\n',
    );
    const mapped = { id: 'm', type: 'map', over: numbers(count), task: 'do {item}' };
    const startedAt = Date.now();
    const result = await rig.run(flow([mapped], { budget: { maxUSD: 3 }, concurrency: 2 }));
    expect(Date.now() - startedAt).toBeLessThan(5_000);
    expect(result.status).toBe('over-budget');
    expect(rig.counts()['call']).toBeLessThan(10);
    expect(phaseOf(result, 'm').items?.total).toBe(count);
    expect(journalLines(result)).toBeLessThan(100);
  });
});

describe('work that never waits for anything', () => {
  /** Each begins when the one before it is done, which it is at once. */
  const conditions = (count: number) =>
    numbers(count).map((n) => ({
      id: `g${n}`,
      type: 'gate',
      eval: ['1 == 1'],
      dependsOn: n === 0 ? [] : [`g${n - 1}`],
    }));

  /** From the first result on there is a timer, which can only fire if the run lets the event loop have its turn. */
  async function abortedSoon(given: object): Promise<RunResult> {
    const controller = new AbortController();
    let armed = false;
    const onEvent = ({ type }: RunEvent) => {
      if (type === 'phase-end' && !armed) setTimeout(() => controller.abort(), 5);
      armed ||= type === 'phase-end';
    };
    return rig.run(JSON.stringify(given), { signal: controller.signal, onEvent });
  }

  it('thousands of phases give way to whoever interrupts them', async () => {
    const result = await abortedSoon(flow(conditions(FULL ? 10_000 : 5_000)));
    expect(result.status).toBe('interrupted');
    const done = result.phases.filter(({ status }) => status === 'done').length;
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(result.phases.length);
  });

  it('so do thousands of items', async () => {
    rig.write('sub.json', JSON.stringify(flow(conditions(1))));
    const count = FULL ? 100_000 : 4_000;
    const result = await abortedSoon(flow([{ id: 'm', type: 'map', over: numbers(count), use: './sub.json' }]));
    expect(result.status).toBe('interrupted');
    expect(phaseOf(result, 'm').items).toMatchObject({ total: count });
    expect(phaseOf(result, 'm').items?.executed).toBeLessThan(count);
  });
});
