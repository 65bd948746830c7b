import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportCheckpoint } from '../../src/run/continue/checkpoint.js';
import type { RunResult } from '../../src/run/core/result.js';
import { createRig, type Rig, ticking } from '../support/rig.js';

let here: Rig;
let there: Rig;
beforeEach(() => {
  here = createRig();
  there = createRig();
});
afterEach(() => {
  here.remove();
  there.remove();
});

const shaky = (id: string, more: object = {}) => ({
  id,
  type: 'script',
  run: `bin/tick ${id}; test -e ../ok`,
  ...more,
});
const flow = {
  name: 'carried',
  phases: [
    ticking('a', {}, 'A'),
    { id: 'm', type: 'map', over: ['x', 'y'], run: ['bin/tick', 'item-{item}', '{item} of {steps.a.output}'] },
    ticking('send', { idempotent: false }),
    shaky('end', { dependsOn: ['m', 'send'] }),
  ],
};

async function failHere(): Promise<{ result: RunResult; file: string }> {
  const result = await here.run(flow);
  const exported = exportCheckpoint(here.project, result.runId);
  if ('failure' in exported) throw new Error(exported.failure.message);
  const file = join(there.root, '../checkpoint.json');
  writeFileSync(file, JSON.stringify(exported.checkpoint));
  return { result, file };
}

describe('a checkpoint', () => {
  it('continues a run in another folder, as on another machine: only what is left executes', async () => {
    const { result, file } = await failHere();
    there.write('../ok', '');
    const second = await there.run(flow, { continuation: { how: 'checkpoint', file } });
    expect(second).toMatchObject({ status: 'success', continues: result.runId });
    expect(there.counts()).toEqual({ end: 1 });
    expect(second.phases.find(({ id }) => id === 'm')?.json).toEqual(['x of A', 'y of A']);
  });

  it('is continued like any other run if it fails again', async () => {
    const { file } = await failHere();
    const second = await there.run(flow, { continuation: { how: 'checkpoint', file } });
    expect(second.status).toBe('failed');
    there.write('../ok', '');
    const third = await there.run(flow);
    expect(third.continues).toBe(second.runId);
    expect(there.counts()).toEqual({ end: 2 });
  });

  it.each([
    ['an output', (text: string) => text.replace('x of A', 'x of Z')],
    ['a key', (text: string) => text.replace(/"runKey":"./, '"runKey":"f')],
    ['a run id that leads elsewhere', (text: string) => text.replace(/"runId":"[^"]+"/, '"runId":"../../x"')],
    ['half of it', (text: string) => text.slice(0, text.length / 2)],
    ['nothing', () => ''],
    ['another version', (text: string) => text.replace('"version":1', '"version":2')],
    ['no checkpoint at all', () => '{"hello": "world"}'],
    ['a list', () => '[]'],
  ])('that was tampered with is refused whole: %s', async (_what, tamper) => {
    const { file } = await failHere();
    writeFileSync(file, tamper(readFileSync(file, 'utf8')));
    await expect(there.run(flow, { continuation: { how: 'checkpoint', file } })).rejects.toThrow();
    expect(there.counts()).toEqual({});
  });

  it('must be signed with the key of the project, where there is one', async () => {
    const { file } = await failHere();
    there.write('key', 'a long signing key of this project');
    there.write(
      '.pi/taskflows/config.yaml',
      `${there.read('.pi/taskflows/config.yaml')}cache: { signingKey: { file: key } }\n`,
    );
    await expect(there.run(flow, { continuation: { how: 'checkpoint', file } })).rejects.toThrow(/signed/);
  });

  it('keeps a side effect in doubt that was in doubt', async () => {
    const stop = new AbortController();
    const slow = {
      name: 'carried',
      phases: [{ id: 'send', type: 'script', run: 'bin/tick send; sleep 60', idempotent: false }],
    };
    const handle = await here.start(slow, { signal: stop.signal });
    while (here.executions().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort();
    const { runId } = await handle.result;
    const exported = exportCheckpoint(here.project, runId);
    const file = join(there.root, '../checkpoint.json');
    writeFileSync(file, JSON.stringify('checkpoint' in exported && exported.checkpoint));
    const result = await there.run(slow, { continuation: { how: 'checkpoint', file } });
    expect(result.error).toMatchObject({ code: 'in-doubt' });
    expect(there.counts()).toEqual({});
  });

  it('can be a saved `run --json` result: keys only, the outputs come from runs of this machine', async () => {
    const { result } = await failHere();
    const file = join(here.root, '../result.json');
    writeFileSync(file, JSON.stringify(result));
    here.forget();
    here.write('../ok', '');
    const second = await here.run(flow, { continuation: { how: 'checkpoint', file } });
    expect(second.status).toBe('success');
    expect(here.counts()).toEqual({ end: 1 });
    // On a machine that never ran it there is nothing to take.
    there.write('../ok', '');
    await there.run(flow, { continuation: { how: 'checkpoint', file } });
    expect(there.counts()).toEqual({ a: 1, 'item-x': 1, 'item-y': 1, send: 1, end: 1 });
  });

  it('can be just the `checkpoint` of a `run --json` result', async () => {
    const { result } = await failHere();
    const file = join(here.root, '../cp.json');
    writeFileSync(file, JSON.stringify(result.checkpoint));
    here.forget();
    here.write('../ok', '');
    const second = await here.run(flow, { continuation: { how: 'checkpoint', file } });
    expect(second).toMatchObject({ status: 'success', continues: result.runId });
    expect(here.counts()).toEqual({ end: 1 });
    expect(second.warnings).toBeUndefined();
    // Of a checkpoint that only has keys, another machine has no results: that is said, and by name.
    there.write('../ok', '');
    const elsewhere = await there.run(flow, { continuation: { how: 'checkpoint', file } });
    expect(elsewhere.warnings).toEqual([
      expect.stringMatching(/^no run of this machine has the result of a, m, send; .*checkpoint export/),
    ]);
    const other = { ...flow, name: 'another' };
    await expect(there.run(other, { continuation: { how: 'checkpoint', file } })).rejects.toThrow(/flow carried/);
  });

  it('that no longer matches says which phases, and why', async () => {
    here.write('in.txt', '1');
    there.write('in.txt', '2');
    const before = [
      ticking('same'),
      ticking('edited', {}, 'old words'),
      ticking('reads', { cache: { fingerprint: ['file:in.txt'] } }),
      ticking('gone'),
    ];
    const needs = ['same', 'edited', 'reads'];
    const first = await here.run({ name: 'carried', phases: [...before, shaky('end', { dependsOn: needs })] });
    const exported = exportCheckpoint(here.project, first.runId);
    const file = join(there.root, '../checkpoint.json');
    writeFileSync(file, JSON.stringify('checkpoint' in exported && exported.checkpoint));
    const now = [before[0]!, ticking('edited', {}, 'new words'), before[2]!, ticking('added')];
    there.write('../ok', '');
    const second = await there.run(
      { name: 'carried', phases: [...now, shaky('end', { dependsOn: needs })] },
      { continuation: { how: 'checkpoint', file } },
    );
    expect(second.warnings).toEqual([
      'of the checkpoint, the flow no longer has gone',
      expect.stringMatching(/^edited does not match the checkpoint: command changed: .*old.* → .*new/),
      'reads does not match the checkpoint: input changed: file:in.txt',
    ]);
    expect(second.phases.find(({ id }) => id === 'added')?.reason).toBe('not in the checkpoint');
    expect(second.phases.find(({ id }) => id === 'reads')?.reason).toBe('input changed: file:in.txt');
    expect(there.counts()).toEqual({ edited: 1, reads: 1, added: 1, end: 1 });
  });

  it('of a run whose outputs were files brings back what it has, and makes again what it has not', async () => {
    const files = {
      name: 'carried',
      phases: [
        {
          id: 'w',
          type: 'script',
          run: 'bin/tick w; echo made > out.txt',
          outputs: ['out.txt'],
          cache: { fingerprint: [] },
        },
        shaky('end', { dependsOn: ['w'] }),
      ],
    };
    const first = await here.run(files);
    const exported = exportCheckpoint(here.project, first.runId);
    const file = join(there.root, '../checkpoint.json');
    writeFileSync(file, JSON.stringify('checkpoint' in exported && exported.checkpoint));
    await there.run(files, { continuation: { how: 'checkpoint', file } });
    expect(there.counts()).toEqual({ w: 1, end: 1 });
    rmSync(join(here.root, 'out.txt'));
    await here.run(files);
    expect(here.counts()).toEqual({ w: 1, end: 2 });
    expect(here.read('out.txt')).toBe('made\n');
  });
});

describe('the whole project copied elsewhere', () => {
  // It could be anybody's: by itself only what this user began is continued.
  it('goes on there when the run is named', async () => {
    const { runId } = await here.run(flow);
    cpSync(join(here.root, '.pi'), join(there.root, '.pi'), { recursive: true });
    there.write('../ok', '');
    const second = await there.run(flow, { continuation: { how: 'resume', runId } });
    expect(second.status).toBe('success');
    expect(there.counts()).toMatchObject({ end: 1 });
    expect(there.counts()).not.toHaveProperty('send');
  });
});

describe('files of a run', () => {
  it('are private and ignored by git', async () => {
    const { runId } = await here.run(flow);
    const runs = join(here.root, '.pi/taskflows/runs');
    expect(statSync(join(runs, runId, 'journal.jsonl')).mode & 0o777).toBe(0o600);
    expect(statSync(join(runs, runId)).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(runs, '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('a project that cannot be written runs all the same, and says that it cannot be continued', async () => {
    mkdirSync(join(here.root, '.pi/taskflows/runs'), { recursive: true });
    // A file where the folder of runs should be: as good as read-only, for root too.
    rmSync(join(here.root, '.pi/taskflows/runs'), { recursive: true });
    writeFileSync(join(here.root, '.pi/taskflows/runs'), 'in the way');
    const result = await here.run({ name: 'x', phases: [ticking('a')] });
    expect(result.status).toBe('success');
    expect(result.warnings?.join()).toContain('cannot be continued');
    expect(existsSync(join(here.root, '.pi/taskflows/runs'))).toBe(true);
    expect(readdirSync(join(here.root, '.pi/taskflows'))).toContain('runs');
  });
});
