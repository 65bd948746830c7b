import { appendFileSync, cpSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pruneRuns } from '../../src/run/history/prune-runs.js';
import { endOfRun } from '../../src/run/history/run-head.js';
import { runCli } from '../support/cli.js';
import { createRig, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const RUNS = '.pi/taskflows/runs';
const kept = () => readdirSync(join(rig.root, RUNS)).filter((name) => /^\d/.test(name));
const KB = 1024;

/** As a batch over many rows would have left it: large, and with its end where it belongs. */
function makeLarge(runId: string): void {
  const end = endOfRun(rig.project, runId);
  const lines = [{ type: 'warning', at: 0, message: 'x'.repeat(40 * KB) }, ...(end ? [end] : [])];
  appendFileSync(
    join(rig.root, RUNS, runId, 'journal.jsonl'),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
}

async function large(name: string, phase: object = ticking('a')): Promise<string> {
  const { runId } = await rig.run({ name, phases: [phase] }, { file: `${name}.json` });
  makeLarge(runId);
  return runId;
}

describe('runs', () => {
  /** The same run again, as if it had been run before all that there are. */
  function earlier(runId: string, nth: number): string {
    const id = `20200101-000000-${String(nth).padStart(6, '0')}`;
    cpSync(join(rig.root, RUNS, runId), join(rig.root, RUNS, id), { recursive: true });
    return id;
  }
  /** Nothing is too old by this clock. */
  const then = () => ({ ...rig.project, clock: { ...rig.project.clock, now: () => Date.UTC(2020, 0, 2) } });

  it('beyond 200 go with all that is in their folders, but for those with something left to do', async () => {
    const done = await rig.run({ name: 'one', phases: [ticking('a')] }, { file: 'one.json' });
    const failed = await rig.run(
      { name: 'two', phases: [{ id: 'a', type: 'script', run: 'exit 1' }] },
      { file: 'two.json' },
    );
    const oldFailed = earlier(failed.runId, 1);
    const claimed = earlier(done.runId, 2);
    rig.write(join(RUNS, claimed, 'continued-by'), '{}\n');
    const others = Array.from({ length: 197 }, (_, index) => earlier(done.runId, index + 3));
    pruneRuns(then(), 10);
    expect(kept()).toHaveLength(201);
    const more = earlier(done.runId, 200);
    pruneRuns(then(), 10);
    expect(kept()).toEqual([oldFailed, ...others, more, done.runId, failed.runId].sort());
  });

  it('older than a month go, but not because of one run with a clock in 2099', async () => {
    const { runId } = await rig.run({ name: 'one', phases: [ticking('a')] }, { file: 'one.json' });
    const days = (count: number) => ({
      ...rig.project,
      clock: { ...rig.project.clock, now: () => start + count * DAY },
    });
    const start = Date.UTC(2020, 0, 1);
    const DAY = 24 * 3_600_000;
    const on = (id: string) => {
      cpSync(join(rig.root, RUNS, source), join(rig.root, RUNS, id), { recursive: true });
      return id;
    };
    let source = runId;
    const history = ['20200101-000000-aaaaaa', '20200102-000000-aaaaaa', '20200103-000000-aaaaaa'].map(on);
    renameSync(join(rig.root, RUNS, runId), join(rig.root, RUNS, '20200103-000001-aaaaaa'));
    source = '20200103-000001-aaaaaa';
    const future = on('20990101-000000-aaaaaa');
    pruneRuns({ ...rig.project, clock: { ...rig.project.clock, now: () => Date.UTC(2099, 0, 1) } }, 10);
    expect(kept()).toEqual(expect.arrayContaining([...history, future]));
    pruneRuns(days(3), 10);
    expect(kept()).toEqual(expect.arrayContaining(history));
    on('20200201-000000-aaaaaa');
    on('20200202-000000-aaaaaa');
    pruneRuns(days(32), 10);
    expect(kept()).not.toContain(history[0]);
    expect(kept()).toContain(history[2]);
  });

  it('that are gone leave no more pointers behind than there may be', async () => {
    const { runId } = await rig.run({ name: 'one', phases: [ticking('a')] }, { file: 'one.json' });
    const pointers = () => readdirSync(join(rig.root, RUNS, '.last'));
    const own = pointers();
    const stray = (count: number) =>
      Array.from({ length: count }, (_, index) => rig.write(join(RUNS, '.last', `gone-${index}`), `${earlierId}\n`));
    const earlierId = earlier(runId, 1);
    stray(10);
    for (let nth = 2; nth < 202; nth++) earlier(runId, nth);
    pruneRuns(then(), 10);
    expect(kept()).not.toContain(earlierId);
    expect(pointers()).toHaveLength(own.length + 10);
    stray(400);
    earlier(runId, 202);
    pruneRuns(then(), 10);
    expect(pointers()).toEqual(own);
  });
});

describe('journals together', () => {
  it('are held to a size, the oldest going first, when a run has written much', async () => {
    const ids = [await large('one'), await large('one'), await large('one'), await large('one')];
    // Nobody looks when a run has written little: the start of every run would pay for it.
    pruneRuns(rig.project, 10, 100 * KB);
    expect(kept()).toEqual(ids);
    pruneRuns(rig.project, 150 * KB, 100 * KB);
    expect(kept()).toEqual(ids.slice(2));
    pruneRuns(rig.project, 150 * KB, 100 * KB);
    expect(kept()).toEqual(ids.slice(2));
  });

  it('keep the last run of every flow and batch', async () => {
    rig.write('rows.txt', 'a\nb\n');
    rig.write('list.json', JSON.stringify({ name: 'list', args: { topic: {} }, phases: [ticking('a')] }));
    const batch = async () => {
      const { stdout } = await runCli(['batch', './list.json', '--over', 'rows.txt', '--json'], { cwd: rig.root });
      const { runId } = JSON.parse(stdout) as { runId: string };
      makeLarge(runId);
      return runId;
    };
    await batch();
    const lastBatch = await batch();
    await large('one');
    const lastOne = await large('one');
    await large('two');
    const lastTwo = await large('two');
    pruneRuns(rig.project, 150 * KB, 10 * KB);
    expect(kept()).toEqual([lastBatch, lastOne, lastTwo]);
  });

  it('keep what is unfinished, waits, or is under way', async () => {
    const waiting = await large('asks', { id: 'ok', type: 'approval', task: 'Shall I?' });
    const failed = await large('fails', { id: 'a', type: 'script', run: 'exit 1' });
    const running = await large('runs');
    // Without an end, and its process is this one, which is alive.
    const path = join(RUNS, running, 'journal.jsonl');
    const lines = rig.read(path).split('\n');
    writeFileSync(join(rig.root, path), lines.filter((line) => !line.startsWith('{"type":"end"')).join('\n'));
    // None of them is the last one of its flow.
    for (const name of ['asks', 'fails', 'runs']) {
      await rig.run(
        { name, phases: [ticking('a')] },
        {
          file: `${name}.json`,
          continuation: { how: 'fresh' },
        },
      );
    }
    const before = kept();
    pruneRuns(rig.project, 150 * KB, 10 * KB);
    expect(kept()).toEqual(before);
    expect(kept()).toEqual(expect.arrayContaining([waiting, failed, running]));
  });

  it('are told where sizes are told', async () => {
    await large('one');
    await large('one');
    const doctor = await runCli(['doctor'], { cwd: rig.root });
    expect(doctor.stdout).toMatch(/runs +2 runs, 8\d\.\d KB of 256 MB/);
    expect((await runCli(['cache', 'status'], { cwd: rig.root })).stdout).toMatch(/journals: 2 runs, 8\d\.\d KB\n/);
    const status = JSON.parse((await runCli(['cache', 'status', '--json'], { cwd: rig.root })).stdout);
    expect(status.runs).toEqual({ runs: 2, bytes: expect.any(Number) });
    expect((await runCli(['runs', '--limit', '0'], { cwd: rig.root })).status).toBe(2);
    const listed = await runCli(['runs', '--limit', '1'], { cwd: rig.root });
    expect((await runCli(['runs', '--state', 'success'], { cwd: rig.root })).stderr).toBe('');
    expect(listed.stderr).toMatch(/^the newest 1; --limit N shows more \(2 runs kept, 8\d\.\d KB\)\n$/);
  });
});
