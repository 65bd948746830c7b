import { readFileSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/run/core/result.js';
import { startCli } from '../support/live-cli.js';
import { livingIn } from '../support/living.js';
import { createRig, phaseOf, type Rig } from '../support/rig.js';

/** With TASKFLOW_FULL=1 a gigabyte against the default limit; otherwise a tenth of it against a small one. */
const FULL = process.env['TASKFLOW_FULL'] === '1';
const WRITTEN_MB = FULL ? 1_024 : 150;
const LIMIT = FULL ? '32 MB' : '4 MB';
const MOST_MB = FULL ? 300 : 170;
/** A journal says that something was too large; it does not hold it. */
const MOST_JOURNAL_BYTES = 100_000;

let rig: Rig;
beforeEach(() => {
  rig = createRig();
  configure();
});
afterEach(() => rig.remove());

function configure(runner = '{ command: [bin/agent], format: text, model: rig-1 }'): void {
  const limits = FULL ? '' : 'limits: { outputBytes: 4MB }\n';
  rig.write('.pi/taskflows/config.yaml', `${limits}runner: rig\nrunners:\n  rig: ${runner}\n`);
}

const flood = (stream = 1) => `head -c ${WRITTEN_MB}M /dev/zero | tr '\\0' x >&${stream}`;
const flow = (phases: object[]) => ({ name: 'large', phases });

function peakMb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    // It has ended.
    return 0;
  }
}

/** The run, and the most memory that the command itself ever had. */
async function measured(phases: object[]): Promise<{ result: RunResult; peak: number; journalBytes: number }> {
  rig.write('flow.json', JSON.stringify(flow(phases)));
  const live = startCli(['run', './flow.json', '--json'], { cwd: rig.root });
  let peak = 0;
  let over = false;
  const ended = live.done.finally(() => {
    over = true;
  });
  while (!over) {
    peak = Math.max(peak, peakMb(live.pid));
    await pause(10);
  }
  const { stdout, stderr } = await ended;
  if (stdout === '') throw new Error(stderr);
  const result = JSON.parse(stdout) as RunResult;
  return { result, peak, journalBytes: statSync(`${rig.root}/.pi/taskflows/runs/${result.runId}/journal.jsonl`).size };
}

async function refused(phases: object[]): Promise<void> {
  const { result, peak, journalBytes } = await measured(phases);
  expect(phaseOf(result, 'a')).toMatchObject({ status: 'failed', error: { code: 'limit' } });
  expect(phaseOf(result, 'a').error?.message).toContain(`larger than ${LIMIT}`);
  expect(peak).toBeLessThan(MOST_MB);
  expect(journalBytes).toBeLessThan(MOST_JOURNAL_BYTES);
  expect(livingIn(rig.root)).toEqual([]);
}

const linux = process.platform === 'linux' ? describe : describe.skip;

linux('an output that is larger than the limit', { timeout: 120_000 }, () => {
  it('of a script', () => refused([{ id: 'a', type: 'script', run: flood() }]));

  it('of an agent that prints its answer', async () => {
    rig.write('bin/agent', `#!/bin/sh\ncat > /dev/null\n${flood()}\n`, 0o755);
    await refused([{ id: 'a', type: 'agent', task: 'x' }]);
  });

  it('of a client that prints events: a line without an end', async () => {
    rig.write('bin/pi', `#!/bin/sh\ncat > /dev/null\n${flood()}\n`, 0o755);
    configure('{ type: pi, command: [bin/pi], model: m }');
    await refused([{ id: 'a', type: 'agent', task: 'x' }]);
  });

  it('of the items of a map together, although each is small', async () => {
    const over = Array.from({ length: FULL ? 40 : 30 }, (_, n) => n);
    const run = ['sh', '-c', `head -c ${FULL ? 4_000_000 : 400_000} /dev/zero | tr '\\0' "$0"`, '{item}'];
    const { result } = await measured([{ id: 'a', type: 'map', over, run }]);
    const { error, items } = phaseOf(result, 'a');
    expect(error).toMatchObject({ code: 'limit', message: expect.stringContaining(`larger than ${LIMIT}`) });
    expect(items?.executed).toBeLessThan(over.length);
  });
});

linux('what is not kept may be as long as it likes', { timeout: 120_000 }, () => {
  it('the error stream: its end is told', async () => {
    const run = `${flood(2)}; echo the reason >&2; exit 3`;
    const { result, peak, journalBytes } = await measured([{ id: 'a', type: 'script', run }]);
    expect(phaseOf(result, 'a').error).toMatchObject({ code: 'exit', detail: expect.stringContaining('the reason') });
    expect(peak).toBeLessThan(MOST_MB);
    expect(journalBytes).toBeLessThan(MOST_JOURNAL_BYTES);
  });

  it('a file of `context`: its beginning is sent, and a change at its end is a change', async () => {
    const make = `head -c ${WRITTEN_MB}M /dev/zero | tr '\\0' y > big.txt`;
    await rig.run(flow([{ id: 'make', type: 'script', run: make }]), { file: 'make.json' });
    const asked = {
      id: 'a',
      type: 'agent',
      task: 'NAME: asked\nSAY: ok',
      context: ['big.txt'],
      cache: { scope: 'cross-run' },
    };
    const first = await measured([asked]);
    expect(first.result.status).toBe('success');
    expect(first.peak).toBeLessThan(MOST_MB);
    expect(first.journalBytes).toBeLessThan(MOST_JOURNAL_BYTES);
    await measured([asked]);
    expect(rig.counts()).toEqual({ asked: 1 });
    await rig.run(flow([{ id: 'more', type: 'script', run: 'printf z >> big.txt' }]), { file: 'more.json' });
    await measured([asked]);
    expect(rig.counts()).toEqual({ asked: 2 });
  });
});
