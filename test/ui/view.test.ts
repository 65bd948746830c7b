import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { journalOf } from '../../src/run/history/runs-folder.js';
import { compareRuns } from '../../src/ui/view/compare.js';
import { type ReadRun, readRun } from '../../src/ui/view/read-run.js';
import { runBefore } from '../../src/ui/view/run-before.js';
import { TextBudget } from '../../src/ui/view/text.js';
import { createRig, type Rig } from '../support/rig.js';
import { STRACE } from '../support/traced.js';
import { endLine, RUN_ID, resultLine, rowLine, runLine, writeJournal } from '../support/written-journal.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const KEPT = (...fingerprint: string[]) => ({ scope: 'cross-run', fingerprint });
const script = (id: string, more: object) => ({ id, type: 'script', run: ['bin/tick', id], ...more });
const FLOW = {
  name: 'made',
  phases: [
    script('read', { run: ['cat', 'a.txt'], cache: KEPT('file:a.txt') }),
    script('other', { cache: KEPT('file:b.txt') }),
    script('use', { input: '{steps.read.output}', cache: KEPT() }),
    script('again', { input: '{steps.use.output}{steps.read.output}', cache: KEPT() }),
  ],
};

async function editedTwice(): Promise<readonly [string, string]> {
  rig.write('a.txt', 'one');
  rig.write('b.txt', 'one');
  const before = await rig.run(FLOW, { fresh: true } as never);
  rig.write('a.txt', 'two');
  const now = await rig.run(FLOW, { fresh: true } as never);
  return [before.runId, now.runId];
}

describe('which edit caused this', () => {
  it('a reason that names a phase is followed up to the file that changed', async () => {
    const [, now] = await editedTwice();
    const { causes, phases } = readRun(rig.project, now)!.view;
    expect(phases.find(({ id }) => id === 'again')?.reason).toContain('upstream');
    expect(causes).toMatchObject([{ what: 'a.txt', phases: ['read', 'use', 'again'], count: 3 }]);
    expect(phases.find(({ id }) => id === 'other')).toMatchObject({ state: 'done', hit: 'cross-run' });
  });

  it('circles, which only a forged journal has, end', () => {
    const ids = Array.from({ length: 30 }, (_, at) => `p${at}`);
    const reason = ids.map((id) => `upstream ${id} changed`).join('; ');
    const lines = ids.map((id) => resultLine(id, { reason }));
    writeJournal(rig.root, [runLine(ids.map((id) => ({ id }))), ...lines, endLine()]);
    expect(readRun(rig.project, RUN_ID)!.view.causes.length).toBeGreaterThan(0);
  });

  it('beside the run before: what ran again and why, what was reused, and what is gone', async () => {
    const [before, now] = await editedTwice();
    expect(runBefore(rig.project, now)).toBe(before);
    const [current, earlier] = [now, before].map((id) => readRun(rig.project, id)!) as [ReadRun, ReadRun];
    const grown = { ...earlier.view, phases: [...earlier.view.phases, extra(earlier.view.phases[0]!)] };
    const sources = { kept: { dir: join(rig.root, '.pi/taskflows/cache') }, texts: new TextBudget(1_000) };
    const { phases } = compareRuns(current, { ...earlier, view: grown }, sources);
    expect(phases.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
      ...['read ran', 'other reused', 'use ran', 'again ran', 'extra gone'],
    ]);
    expect(phases[0]?.why).toContain('a.txt');
  });

  const extra = <T extends object>(phase: T) => ({ ...phase, id: 'extra' });
});

describe('a journal that is not as it should be', () => {
  it('cut in the middle: what is there is shown, what was under way is unfinished', async () => {
    const { runId } = await rig.run({
      name: 'made',
      phases: [script('one', {}), script('two', { dependsOn: ['one'] })],
    });
    const path = journalOf(rig.project, runId);
    // As if of a process that is gone, and in the line of the second result.
    const text = readFileSync(path, 'utf8').replace(/"pid":\d+/, '"pid":4194399');
    writeFileSync(path, text);
    truncateSync(path, text.indexOf('"phase":"two","kind"') + 30);
    const view = readRun(rig.project, runId)!.view;
    expect(view.phases.map(({ id, state }) => [id, state])).toEqual([
      ['one', 'done'],
      ['two', 'unfinished'],
    ]);
    expect(view.state).toBe('crashed');
    expect(view.notes.join()).toContain('ended without a word');
  });

  it('of another format: shown, and the page says so', () => {
    const odd = { type: 'novelty', at: 1 } as never;
    writeJournal(rig.root, [runLine([{ id: 'a' }], { version: 0 as never }), odd, resultLine('a'), endLine()]);
    const view = readRun(rig.project, RUN_ID)!.view;
    expect(view.phases[0]?.state).toBe('done');
    expect(view.notes.join()).toContain('format 0');
  });

  it('phases that its head does not know are shown without edges, whatever they are called', () => {
    const names = ['__proto__', 'constructor', '<img src=x>', '\u001b[31mred', 'a'.repeat(10_000)];
    writeJournal(rig.root, [runLine([]), ...names.map((name) => resultLine(name)), endLine()]);
    const { view, details } = readRun(rig.project, RUN_ID)!;
    expect(view.phases).toHaveLength(names.length);
    expect(Math.max(...view.phases.map(({ id }) => id.length))).toBeLessThanOrEqual(200);
    expect(view.notes.join()).toContain('drawn without edges');
    const embedded = JSON.parse(JSON.stringify(Object.fromEntries(details)));
    expect(Object.hasOwn(embedded, '__proto__')).toBe(true);
  });

  it('with an observation of another shape: the line is passed over, the others are shown', () => {
    const counts = { complete: false, incomplete: 'cut', reads: 3, lists: 1, absent: 0, writes: 2, undeclared: 2 };
    const lists = [{ path: 'src', own: [] }];
    const set = { complete: false, reads: ['a.txt'], lists, absent: [], present: [], marks: ['0', '1'] };
    const seen = { set, value: 'v' };
    const odd = [
      ...[[1], 'no', { ...counts, reads: ['a.txt'] }, { ...counts, complete: 1 }].map((observed) => ({ observed })),
      ...['no', 5, {}, { set, value: 5 }, { set: [], value: 'v' }].map((other) => ({ seen: other })),
      ...[{ reads: [5] }, { lists: ['src'] }, { absent: 'x' }].map((other) => ({
        seen: { set: { ...set, ...other } },
      })),
    ];
    const lines = [{ observed: counts, seen }, { seen }, ...odd].map((more, at) => resultLine(`p${at}`, more as never));
    writeJournal(rig.root, [runLine([]), ...lines, endLine()]);
    const { details, view } = readRun(rig.project, RUN_ID)!;
    const paths = { complete: false, reads: ['a.txt'], lists: ['src'], absent: [] };
    const { complete: _, undeclared: __, incomplete, ...of } = counts;
    expect(details.get('p0')?.observed).toEqual({ ...paths, incomplete, counts: of });
    expect(details.get('p1')?.observed).toEqual(paths);
    expect([...details.keys()]).toEqual(['p0', 'p1']);
    expect(view.phases.map(({ id }) => id)).toEqual(['p0', 'p1']);
  });

  it('is not read outside of the runs folder', () => {
    writeFileSync(`${rig.root}/journal.jsonl`, `${JSON.stringify(runLine([]))}\n`);
    expect(readRun(rig.project, '../../..')).toBeUndefined();
  });
});

describe('what a phase looked at', () => {
  it.skipIf(STRACE === undefined)(
    'is shown as its run has written it: how much, and what is not declared',
    async () => {
      rig.write('.pi/taskflows/config.yaml', 'cache: { observe: auto }\n');
      for (const name of ['a.txt', 'b.txt']) rig.write(name, 'one');
      const run = 'cat a.txt b.txt; ls src; test -e c.txt; exit 0';
      rig.write('src/x.txt', 'x');
      const { runId } = await rig.run({ name: 'made', phases: [script('look', { run, cache: KEPT('file:a.txt') })] });
      const { observed } = readRun(rig.project, runId)!.details.get('look')!;
      expect(observed).toEqual({
        complete: true,
        counts: { reads: 2, lists: 1, absent: 1, writes: 0 },
        ...{ reads: ['b.txt'], lists: ['src'], absent: ['c.txt'] },
      });
    },
  );
});

describe('large runs', () => {
  it('keep the beginning of each text, and say how long the whole is', () => {
    const text = 'x'.repeat(100_000);
    writeJournal(rig.root, [runLine([{ id: 'a' }]), resultLine('a', { output: { text, json: null } }), endLine()]);
    const said = readRun(rig.project, RUN_ID)!.details.get('a')!.said!;
    expect([said.text.length, said.chars]).toEqual([16_000, 100_000]);
  });

  it('of a hundred thousand texts none is whole, and all together fit into a page', () => {
    const text = 'word '.repeat(2_000);
    const units = Array.from({ length: 4_000 }, (_, at) =>
      resultLine('a', { type: 'unit', unit: `item ${at}`, kind: 'map', output: { text, json: null } }),
    );
    const last = resultLine('a', { kind: 'map', output: { text: 'all of it', json: null } });
    writeJournal(rig.root, [runLine([{ id: 'a', kind: 'map' }]), ...units, last, endLine()]);
    const { details, view } = readRun(rig.project, RUN_ID)!;
    const characters = [...details.values()].reduce((sum, { said }) => sum + (said?.text.length ?? 0), 0);
    expect(characters).toBeLessThan(9_000_000);
    expect(view.phases[0]?.units).toHaveLength(4_000);
    // Many items leave no room for each other, but they do not take that of the phase.
    expect(details.get('a')?.said?.text).toBe('all of it');
  });

  it('of a batch the phases are counted over all rows, and each row is found in its phase', () => {
    const rows = Array.from({ length: 30 }, (_, at) => at + 1);
    const hit = (row: number) => (row % 3 === 0 ? {} : { hit: 'cross-run' as const, attempts: 0 });
    const lines = rows.flatMap((row) => [resultLine(`rows/${row}/ask`, hit(row)), rowLine(row)]);
    writeJournal(rig.root, [
      runLine([{ id: 'ask' }], { mode: 'batch', over: 'rows.txt', rows: 30 }),
      ...lines,
      endLine(),
    ]);
    const view = readRun(rig.project, RUN_ID)!.view;
    expect(view.phases).toHaveLength(1);
    expect(view.phases[0]?.items).toEqual({ total: 30, executed: 10, reused: 20, failed: 0 });
    expect(view.phases[0]?.units[4]?.label).toBe('5 · topic 5');
    expect(view.rows).toHaveLength(30);
  });
});
