import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { livingIn } from '../support/living.js';
import { type Measured, measuredRun } from '../support/measured-cli.js';
import { createRig, phaseOf, type Rig } from '../support/rig.js';

/** With TASKFLOW_FULL=1 a gigabyte against the default limit; otherwise a tenth of it against a small one. */
const FULL = process.env['TASKFLOW_FULL'] === '1';
const WRITTEN_MB = FULL ? 1_024 : 150;
const LIMIT = FULL ? '256 MB' : '4 MB';
/** An agent's answer is a text in memory. */
const ANSWER_LIMIT = FULL ? '32 MB' : '4 MB';
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

async function measured(phases: object[]): Promise<Measured> {
  rig.write('flow.json', JSON.stringify(flow(phases)));
  return measuredRun(rig.root, ['./flow.json']);
}

async function refused(phases: object[], limit = LIMIT): Promise<void> {
  const { result, peak, journalBytes } = await measured(phases);
  expect(phaseOf(result, 'a')).toMatchObject({ status: 'failed', error: { code: 'limit' } });
  expect(phaseOf(result, 'a').error?.message).toContain(`larger than ${limit}`);
  expect(peak).toBeLessThan(MOST_MB);
  expect(journalBytes).toBeLessThan(MOST_JOURNAL_BYTES);
  expect(livingIn(rig.root)).toEqual([]);
}

const linux = process.platform === 'linux' ? describe : describe.skip;

linux('an output that is larger than the limit', { timeout: 120_000 }, () => {
  it('of a script', () => refused([{ id: 'a', type: 'script', run: flood() }]));

  it('of an agent that prints its answer', async () => {
    rig.write('bin/agent', `#!/bin/sh\ncat > /dev/null\n${flood()}\n`, 0o755);
    await refused([{ id: 'a', type: 'agent', task: 'x' }], ANSWER_LIMIT);
  });

  it('of a client that prints events: a line without an end', async () => {
    rig.write('bin/pi', `#!/bin/sh\ncat > /dev/null\n${flood()}\n`, 0o755);
    configure('{ type: pi, command: [bin/pi], model: m }');
    await refused([{ id: 'a', type: 'agent', task: 'x' }], ANSWER_LIMIT);
  });

  it('of the items of a map together, although each is small', async () => {
    const over = Array.from({ length: FULL ? 40 : 30 }, (_, n) => n);
    const run = ['sh', '-c', `head -c ${FULL ? 10_000_000 : 400_000} /dev/zero | tr '\\0' "$0"`, '{item}'];
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
