import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/run/core/result.js';
import { newRunId } from '../../src/run/history/runs-folder.js';
import { runCli } from '../support/cli.js';
import { linesOf } from '../support/live-cli.js';
import { createRig, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const RUNS = '.pi/taskflows/runs';
const flow = {
  name: 'line',
  phases: [
    ticking('a', {}, 'A'.repeat(300)),
    ticking('b', { dependsOn: ['a'], idempotent: false }),
    { id: 'm', type: 'map', over: [1, 2, 3], run: ['bin/tick', 'item', '{item}'], dependsOn: ['b'] },
    { id: 'end', type: 'script', run: 'bin/tick end; test -e ../ok', dependsOn: ['m'] },
  ],
};

/** In a process of its own, which is dead afterwards. */
async function run(
  root: string,
  ...args: string[]
): Promise<{ status: number | null; stderr: string; result?: RunResult }> {
  const { status, stdout, stderr } = await runCli(['run', './flow.json', '--json', ...args], { cwd: root });
  return { status, stderr, ...(stdout === '' ? {} : { result: JSON.parse(stdout) as RunResult }) };
}

const journal = (root: string, runId: string) => join(root, RUNS, runId, 'journal.jsonl');

describe('a run that continues another and dies early', () => {
  it('loses nothing of it, wherever its journal ends', async () => {
    rig.write('flow.json', JSON.stringify(flow));
    const first = (await run(rig.root)).result!;
    const second = (await run(rig.root)).result!;
    expect(second.continues).toBe(first.runId);
    const text = readFileSync(journal(rig.root, second.runId), 'utf8');
    const carried = text.indexOf('{"type":"carried-end"');
    // Nothing at all, half of the first line, some lines, half a line, all but the last mark, all of it, and more.
    const cuts = [0, 40, text.indexOf('\n') + 1, Math.floor(carried / 2), carried, carried + 10];
    const complete = text.indexOf('\n', carried) + 1;
    cuts.push(complete, complete + 30, text.length - 5);
    rig.write('../ok', '');
    const log = join(rig.root, '../log');
    const ran = await Promise.all(
      cuts.map(async (cut, index) => {
        const copy = join(rig.root, `../copy-${index}`);
        cpSync(rig.root, join(copy, 'project'), { recursive: true });
        writeFileSync(join(copy, 'ok'), '');
        const root = join(copy, 'project');
        truncateSync(journal(root, second.runId), cut);
        writeFileSync(join(root, 'bin/tick'), rig.read('bin/tick').replace(log, join(copy, 'log')));
        // Not by itself: the edited script would make the others run again, and rightly so.
        const named = cut < text.indexOf('\n') ? first : second;
        const { result, stderr } = await run(root, '--resume', named.runId);
        return { cut, status: result?.status ?? stderr, executed: linesOf(join(copy, 'log')) };
      }),
    );
    expect(ran).toEqual(cuts.map((cut) => ({ cut, status: 'success', executed: ['end'] })));
  });

  it('is replaced at once when it died before its first line, also when it continued by itself', async () => {
    rig.write('flow.json', JSON.stringify(flow));
    const first = (await run(rig.root)).result!;
    const second = (await run(rig.root)).result!;
    rmSync(join(rig.root, RUNS, second.runId), { recursive: true });
    const argsPointers = readdirSync(join(rig.root, RUNS, '.last'));
    for (const name of argsPointers) writeFileSync(join(rig.root, RUNS, '.last', name), `${first.runId}\n`);
    rig.forget();
    rig.write('../ok', '');
    const third = (await run(rig.root)).result!;
    expect(third).toMatchObject({ status: 'success', continues: first.runId });
    expect(rig.counts()).toEqual({ end: 1 });
    expect(existsSync(join(rig.root, RUNS, first.runId, 'continued-by.2'))).toBe(true);
  });
});

describe('a run that went on as another', () => {
  it('is resumed as that one: a side effect that happened there is known', async () => {
    const later = {
      ...flow,
      phases: [
        ...flow.phases.slice(0, 3),
        { ...flow.phases[3], run: 'bin/tick end; test -e ../half' },
        ticking('send', { idempotent: false, dependsOn: ['end'] }),
        { id: 'last', type: 'script', run: 'test -e ../ok', dependsOn: ['send'] },
      ],
    };
    rig.write('flow.json', JSON.stringify(later));
    const first = (await run(rig.root)).result!;
    rig.write('../half', '');
    const second = (await run(rig.root)).result!;
    expect(rig.counts()['send']).toBe(1);
    rig.write('../ok', '');
    const third = (await run(rig.root, '--resume', first.runId)).result!;
    expect(third).toMatchObject({ status: 'success', continues: second.runId });
    expect(rig.counts()['send']).toBe(1);
    // And a finished one can be resumed: there is nothing to do.
    const fourth = (await run(rig.root, '--resume', first.runId)).result!;
    expect(fourth).toMatchObject({ status: 'success', continues: third.runId, reuse: { executed: 0 } });
  });
});

describe('processes that want to continue the same run at once', () => {
  it.each([['by itself'], ['by name']])('only one does: %s', async (how) => {
    const slow = {
      ...flow,
      phases: [...flow.phases.slice(0, 3), { ...flow.phases[3], run: 'bin/tick end; sleep 0.5; test -e ../ok' }],
    };
    rig.write('flow.json', JSON.stringify(slow));
    const first = (await run(rig.root)).result!;
    const args = how === 'by name' ? ['--resume', first.runId] : [];
    const racing = await Promise.all([1, 2, 3, 4].map(() => run(rig.root, ...args)));
    const continued = racing.filter(({ result }) => result?.continues === first.runId);
    expect(continued).toHaveLength(1);
    for (const { status, stderr, result } of racing) {
      if (result?.continues === first.runId) continue;
      // Whoever comes late starts afresh and says so; whoever asked for that very run is told that it is taken.
      if (how === 'by name') expect([status, stderr]).toEqual([2, expect.stringMatching(/continued|under way/)]);
      else expect(result).toMatchObject({ warnings: [expect.stringContaining('starting afresh')] });
    }
  });

  it('a live run is not continued; it is once it is dead', async () => {
    const { startCli } = await import('../support/live-cli.js');
    const slow = {
      name: 'line',
      phases: [
        ticking('a'),
        { id: 'end', type: 'script', run: 'bin/tick end; test -e ../ok || sleep 60', dependsOn: ['a'] },
      ],
    };
    rig.write('flow.json', JSON.stringify(slow));
    const live = startCli(['run', './flow.json'], { cwd: rig.root });
    while (!rig.executions().includes('end')) await new Promise((resolve) => setTimeout(resolve, 5));
    const [runId] = readdirSync(join(rig.root, RUNS)).filter((name) => /^\d/.test(name));
    const refused = await run(rig.root, '--resume', runId!);
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('under way')]);
    live.kill('SIGKILL');
    await live.done;
    rig.write('../ok', '');
    const after = (await run(rig.root)).result!;
    expect(after).toMatchObject({ status: 'success', continues: runId });
    expect(rig.counts()).toEqual({ a: 1, end: 2 });
  });
});

describe('state of a run', () => {
  it('an end that quotes much of what a process said is still found', async () => {
    const { runHead } = await import('../../src/run/history/run-head.js');
    const noisy = {
      name: 'line',
      phases: [{ id: 'x', type: 'script', run: "printf '\\033[31m%.0s' $(seq 4000) >&2; exit 1" }],
    };
    const result = await rig.run(noisy);
    const head = runHead(rig.project, result.runId);
    expect(head?.state).toBe('failed');
  });

  it('runs that went on are pruned with the one that finished; unfinished ones stay', async () => {
    const { pruneRuns } = await import('../../src/run/history/prune-runs.js');
    rig.write('flow.json', JSON.stringify(flow));
    const first = (await run(rig.root)).result!;
    rig.write('../ok', '');
    const second = (await run(rig.root)).result!;
    rmSync(join(rig.root, '../ok'));
    const third = (await run(rig.root)).result!;
    // Runs of two later days: the clock has not just leapt.
    const later = (days: number) => newRunId(Date.now() + days * 24 * 3_600_000);
    for (const days of [38, 40]) mkdirSync(join(rig.root, RUNS, later(days)), { recursive: true });
    const clock = { ...rig.project.clock, now: () => Date.now() + 40 * 24 * 3_600_000 };
    pruneRuns({ ...rig.project, clock }, 0);
    const left = readdirSync(join(rig.root, RUNS)).filter((name) => /^\d/.test(name));
    const ours = [first.runId, second.runId, third.runId].filter((runId) => left.includes(runId));
    expect(ours).toEqual([third.runId]);
    expect([first.status, second.status, third.status]).toEqual(['failed', 'success', 'failed']);
  });
});
