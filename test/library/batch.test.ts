import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchRowValue, loadFlow, RowsError, type RunBatchOptions, runBatch } from '../../src/index.js';
import type { RunEvent } from '../../src/model/event.js';
import { createRig, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
  rig.write('flow.json', JSON.stringify(FLOW));
});
afterEach(() => rig.remove());

/** A phase that all rows share, and one of each; topics that begin with `bad` fail while the file `broken` is there. */
const FLOW = {
  name: 'topics',
  args: { topic: { required: true }, depth: { type: 'number', default: 1, maximum: 5 } },
  phases: [
    ticking('setup', {}, 'ready'),
    {
      id: 'work',
      type: 'script',
      run: 'case "$TOPIC" in bad*) [ ! -e broken ] || exit 3;; esac; bin/tick work "$TOPIC $DEPTH $SETUP"',
      env: { TOPIC: '{args.topic}', DEPTH: '{args.depth}', SETUP: '{steps.setup.output}' },
    },
  ],
};

async function batch(rows: Iterable<BatchRowValue>, options: RunBatchOptions = {}) {
  return runBatch(rig.project, await loadFlow(rig.project, './flow.json'), rows, options).result;
}

describe('a batch', () => {
  it('runs the flow for each row, shares what rows have in common and has every output', async () => {
    const result = await batch([{ topic: 'cats' }, { topic: 'dogs', depth: 3 }, { topic: 'cats', depth: undefined }], {
      jobs: 2,
    });
    expect(result).toMatchObject({ status: 'success', total: 3, done: 3, failed: 0 });
    expect([1, 2, 3, 4].map((row) => result.outputOf(row)?.text)).toEqual([
      'cats 1 ready',
      'dogs 3 ready',
      'cats 1 ready',
      undefined,
    ]);
    expect(result.rows.map(({ label, args }) => [label, args['depth']])).toEqual([
      ['cats', 1],
      ['dogs', 3],
      ['cats', 1],
    ]);
    expect(rig.counts()['setup']).toBe(1);
  });

  it('a phase that reads what its own row has written is not answered from another row', async () => {
    const write = {
      id: 'write',
      type: 'script',
      run: 'echo "$TOPIC" > note.txt; echo written',
      env: { TOPIC: '{args.topic}' },
    };
    const read = {
      id: 'read',
      type: 'script',
      run: 'bin/tick read "$(cat - note.txt)"',
      input: '{steps.write.output}: ',
    };
    rig.write('flow.json', JSON.stringify({ ...FLOW, phases: [write, read] }));
    const result = await batch([{ topic: 'cats' }, { topic: 'dogs' }], { jobs: 1 });
    expect([1, 2].map((row) => result.outputOf(row)?.text)).toEqual(['written: cats', 'written: dogs']);
    expect(rig.counts()).toEqual({ read: 2 });
  });

  it('takes bare values, any iterable, and arguments for all rows', async () => {
    const result = await batch(new Set(['a', 'b']), { args: { depth: 2 } });
    expect([result.outputOf(1)?.text, result.outputOf(2)?.text]).toEqual(['a 2 ready', 'b 2 ready']);
    const other = await batch([4], { as: 'depth', args: { topic: 'x' } });
    expect(other.outputOf(1)?.text).toBe('x 4 ready');
  });

  it('hands out outputs and figures as rows end, and keeps outputs only if it may', async () => {
    const told: string[] = [];
    const result = await batch(['a', 'b'], {
      jobs: 1,
      keepOutputs: false,
      onOutput: ({ label }, { text }) => told.push(`${label}: ${text}`),
      onRow: ({ row, status }) => told.push(`${row} ${status}`),
    });
    expect(told).toEqual(['a: a 1 ready', '1 success', 'b: b 1 ready', '2 success']);
    expect(result.outputOf(1)).toBeUndefined();
  });

  it('says what happens, and keeps nothing for a reader who is not there', async () => {
    const handle = runBatch(rig.project, await loadFlow(rig.project, './flow.json'), ['a', 'b']);
    const types: RunEvent['type'][] = [];
    for await (const { type } of handle.events) types.push(type);
    expect([types[0], types.at(-1)]).toEqual(['run-start', 'run-end']);
    expect(types.filter((type) => type === 'row-end')).toHaveLength(2);
    const unread = runBatch(rig.project, await loadFlow(rig.project, './flow.json'), ['a', 'b']);
    await unread.result;
    for await (const event of unread.events) expect.fail(event.type);
  });

  it('goes on after a row that fails, and resumes with what is missing alone', async () => {
    rig.write('broken', '');
    const first = await batch(['a', 'bad', 'c']);
    expect(first).toMatchObject({ status: 'failed', done: 2, failed: 1, error: { row: 2, phase: 'work' } });
    rmSync(join(rig.root, 'broken'));
    rig.forget();
    const again = await batch(['a', 'bad', 'c'], { resume: true });
    expect(again).toMatchObject({ status: 'success', done: 3, reused: 2, continues: first.runId });
    expect(again.outputOf(1)?.text).toBe('a 1 ready');
    expect(rig.counts()).toEqual({ work: 1 });
    expect(await batch(['a', 'bad', 'c'], { resume: first.runId })).toMatchObject({ reused: 3 });
  });

  it('ends with the first failure if it is told to, and at a signal', async () => {
    rig.write('broken', '');
    expect(await batch(['bad', 'b', 'c'], { jobs: 1, failFast: true })).toMatchObject({ failed: 1, left: 2 });
    const abort = new AbortController();
    const stopped = await batch(['a', 'b', 'c'], {
      jobs: 1,
      signal: abort.signal,
      onRow: () => abort.abort(),
    });
    expect(stopped).toMatchObject({ status: 'interrupted', done: 1, left: 2 });
  });
});

describe('what cannot begin', () => {
  it('names every row that does not fit, and starts nothing', async () => {
    const rows = [{ topic: 'a', depth: 9 }, { topic: 'b' }, { depth: 1 }, null as never];
    const refused = await batch(rows).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RowsError);
    expect((refused as RowsError).problems.map(({ line }) => line)).toEqual([1, 3, 4]);
    expect((refused as RowsError).message).toContain('row 3: ');
    expect(existsSync(join(rig.root, '.pi/taskflows/runs'))).toBe(false);
  });

  it.each([
    ['a bare value that no argument stands for', ['a'], { as: 'tpoic' }, 'no argument "tpoic"'],
    ['arguments for all rows that do not fit', ['a'], { args: { depth: 9 } }, 'depth'],
    ['nothing to resume', ['a'], { resume: true, over: 'elsewhere' }, 'no batch of topics over elsewhere to resume'],
    ['a run that does not exist', ['a'], { resume: 'no-such-run' }, 'no-such-run'],
    ['no jobs', ['a'], { jobs: 0 }, 'whole number'],
  ])('%s', async (_what, rows, options, words) => {
    await expect(batch(rows, options)).rejects.toThrow(words);
  });

  it('columns that mean nothing are a warning', async () => {
    const { warnings } = await batch([{ topic: 'a', deepth: 2 }]);
    expect(warnings).toEqual(['the flow has no argument "deepth" (did you mean "depth"?): ignored in every row']);
  });
});
