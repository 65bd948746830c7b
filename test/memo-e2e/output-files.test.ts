import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { phaseOf } from '../support/rig.js';
import { CACHE, createMemoRig, cross, filesUnder, flow, type MemoRig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const path = (name: string) => join(rig.root, name);
const blobs = () => filesUnder(path(`${CACHE}/blobs`));
/** Writes a report from `in.txt`, a program and a file of bytes. */
const build = (more: object = {}) => ({
  id: 'build',
  type: 'script',
  run:
    'bin/note build; mkdir -p dist/sub; cat in.txt > dist/report.txt; printf "\\377\\000" > dist/sub/bytes; ' +
    'printf "#!/bin/sh\\n" > dist/tool; chmod 751 dist/tool; echo built',
  outputs: ['dist/**'],
  cache: cross(['file:in.txt']),
  ...more,
});

beforeEach(() => rig.write('in.txt', 'one'));

describe('a hit brings back what the phase wrote', () => {
  beforeEach(async () => {
    expect(await rig.executed(flow([build()]))).toEqual({ build: 1 });
  });

  it('byte for byte, with modes, when all of it is gone', async () => {
    rmSync(path('dist'), { recursive: true });
    expect(await rig.executed()).toEqual({});
    expect(rig.read('dist/report.txt')).toBe('one');
    expect(readFileSync(path('dist/sub/bytes'))).toEqual(Buffer.from([255, 0]));
    expect(statSync(path('dist/tool')).mode & 0o777).toBe(0o751);
  });

  it('of the entry that fits, when another version lies there', async () => {
    rig.write('in.txt', 'two');
    expect(await rig.executed()).toEqual({ build: 1 });
    expect(rig.read('dist/report.txt')).toBe('two');
    rig.write('in.txt', 'one');
    expect(await rig.executed()).toEqual({});
    expect(rig.read('dist/report.txt')).toBe('one');
  });

  it('touching nothing that is right, and leaving other files alone', async () => {
    rig.write('dist/notes.txt', 'mine');
    const before = statSync(path('dist/report.txt'), { bigint: true });
    expect(await rig.executed()).toEqual({});
    const after = statSync(path('dist/report.txt'), { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
    expect(rig.read('dist/notes.txt')).toBe('mine');
  });

  it('only the mode, when that is all that is wrong', async () => {
    chmodSync(path('dist/tool'), 0o600);
    expect(await rig.executed()).toEqual({});
    expect(statSync(path('dist/tool')).mode & 0o777).toBe(0o751);
  });

  it("never over a person's edit: that is a miss with this reason, and the phase decides", async () => {
    rig.write('dist/report.txt', 'edited by hand');
    const result = await rig.run(undefined, { frozen: true });
    expect(rig.read('dist/report.txt')).toBe('edited by hand');
    expect(phaseOf(result, 'build').reason).toContain('dist/report.txt was changed by someone else');
    expect(await rig.executed()).toEqual({ build: 1 });
  });

  it('never through a link that leads out of the project', async () => {
    rmSync(path('dist'), { recursive: true });
    const outside = join(rig.root, '..', 'outside');
    mkdirSync(outside);
    symlinkSync(outside, path('dist'));
    const result = await rig.run(undefined, { frozen: true });
    expect(result.status).toBe('failed');
    expect(readdirSync(outside)).toEqual([]);
    expect(phaseOf(result, 'build').reason).toContain('leads out of the project');
  });

  it('never with a missing or damaged blob: it runs again', async () => {
    rmSync(path('dist'), { recursive: true });
    for (const blob of blobs()) rmSync(blob);
    expect(await rig.executed()).toEqual({ build: 1 });
    rmSync(path('dist'), { recursive: true });
    for (const blob of blobs()) writeFileSync(blob, 'x'.repeat(statSync(blob).size));
    expect(await rig.executed()).toEqual({ build: 1 });
    expect(rig.read('dist/report.txt')).toBe('one');
  });

  it('nothing half: if one file is in the way, none is written', async () => {
    rmSync(path('dist'), { recursive: true });
    rig.write('dist/tool', 'mine');
    await rig.run(undefined, { frozen: true });
    expect(existsSync(path('dist/report.txt'))).toBe(false);
    expect(rig.read('dist/tool')).toBe('mine');
  });
});

describe('files and keys', () => {
  it("a phase's own outputs are no part of its fingerprints", async () => {
    const all = build({ cache: cross(['glob:dist/**', 'glob:in.txt']) });
    expect(await rig.executed(flow([all]))).toEqual({ build: 1 });
    expect(await rig.executed()).toEqual({});
    rmSync(path('dist'), { recursive: true });
    expect(await rig.executed()).toEqual({});
  });

  it('what follows counts by the content of the files, not by what they were made from', async () => {
    const use = {
      id: 'use',
      type: 'script',
      run: 'bin/note use; cat dist/report.txt',
      dependsOn: ['build'],
      cache: cross(),
    };
    expect(phaseOf(await rig.run(flow([build(), use])), 'use').output).toBe('one');
    rig.forget();
    expect(await rig.executed(flow([build({ run: `${build().run}; true` }), use]))).toEqual({ build: 1 });
    rig.write('in.txt', 'two');
    rig.forget();
    expect(phaseOf(await rig.run(), 'use').output).toBe('two');
    expect(rig.counts()).toEqual({ build: 1, use: 1 });
    rig.write('in.txt', 'one');
    rig.forget();
    expect(phaseOf(await rig.run(), 'use').output).toBe('one');
    expect(rig.counts()).toEqual({});
  });

  it('later phases see restored files, though the same fingerprint was resolved before they came back', async () => {
    const look = (id: string, more: object = {}) => ({
      id,
      type: 'script',
      run: `bin/note ${id}; cat dist/report.txt || true`,
      cache: cross(['glob:dist/**']),
      ...more,
    });
    await rig.run(flow([look('early'), build({ dependsOn: ['early'] }), look('late', { dependsOn: ['build'] })]));
    rmSync(path('dist'), { recursive: true });
    rig.forget();
    expect(phaseOf(await rig.run(), 'late').output).toBe('one');
    expect(rig.counts()).toEqual({});
  });

  it('a file that cannot be kept: the result is used, not kept', async () => {
    const outside = join(rig.root, '..', 'outside.txt');
    writeFileSync(outside, 'x');
    const linked = build({ run: `bin/note build; mkdir -p dist; ln -sf ${outside} dist/link` });
    const result = await rig.run(flow([linked]));
    expect(phaseOf(result, 'build').status).toBe('done');
    expect(phaseOf(result, 'build').remark).toContain('not kept');
    expect(await rig.executed()).toEqual({ build: 1 });
  });

  it('files of a phase that failed are not kept', async () => {
    await rig.executed(flow([build({ run: 'mkdir -p dist; echo half > dist/report.txt; exit 1' })]));
    expect(blobs()).toEqual([]);
  });

  it('items of a map bring back each their own files, and one edited item runs alone', async () => {
    const map = {
      id: 'm',
      type: 'map',
      over: ['x', 'y'],
      run: 'bin/note "$ITEM"; mkdir -p "out/$ITEM"; cat "$ITEM.in" > "out/$ITEM/r.txt"',
      env: { ITEM: '{item}' },
      outputs: ['out/{item}/**'],
      cache: cross(['file:{item}.in']),
    };
    rig.write('x.in', 'x1');
    rig.write('y.in', 'y1');
    expect(await rig.executed(flow([map]))).toEqual({ x: 1, y: 1 });
    rmSync(path('out'), { recursive: true });
    expect(await rig.executed()).toEqual({});
    expect([rig.read('out/x/r.txt'), rig.read('out/y/r.txt')]).toEqual(['x1', 'y1']);
    rig.write('y.in', 'y2');
    rmSync(path('out'), { recursive: true });
    expect(await rig.executed()).toEqual({ y: 1 });
    expect([rig.read('out/x/r.txt'), rig.read('out/y/r.txt')]).toEqual(['x1', 'y2']);
  });

  it('an item that would lead out of the project: nothing there is looked at, and the result is not kept', async () => {
    const map = {
      id: 'm',
      type: 'map',
      over: ['..', '/etc', 'ok'],
      run: ['bin/tick', 'm'],
      outputs: ['{item}/*.conf'],
      cache: cross(),
    };
    expect(await rig.executed(flow([map]))).toEqual({ m: 3 });
    expect(rig.entries()).toHaveLength(1);
    expect(blobs()).toEqual([]);
  });

  it('items whose files cannot be told apart are not kept, and say why', async () => {
    const map = { id: 'm', type: 'map', over: ['x'], run: ['bin/tick', 'm'], outputs: ['out/**'], cache: cross() };
    expect(await rig.executed(flow([map]))).toEqual({ m: 1 });
    expect(await rig.executed()).toEqual({ m: 1 });
  });

  it('a loop, a race and a tournament bring their files back as a whole', async () => {
    const write = 'DO: mkdir -p out; echo made > out/r.txt';
    const answer = 'ANSWER: {"text": "WINNER: 1"}';
    const loop = {
      id: 'p',
      type: 'loop',
      runner: 'json',
      task: `NAME: p\n${write}\n${answer}`,
      maxIterations: 1,
      outputs: ['out/**'],
      cache: cross(),
    };
    const race = {
      id: 'p',
      type: 'race',
      branches: [{ run: 'bin/note p; mkdir -p out; echo made > out/r.txt' }, { run: 'sleep 5' }],
      outputs: ['out/**'],
      cache: cross(),
    };
    for (const phase of [loop, race]) {
      rig.forget();
      await rig.run(flow([phase]));
      expect(rig.counts()).toEqual({ p: 1 });
      rmSync(path('out'), { recursive: true });
      expect(await rig.executed()).toEqual({});
      expect(rig.read('out/r.txt')).toBe('made\n');
    }
  });

  it('a run that continues brings files back too', async () => {
    const end = { id: 'end', type: 'script', run: 'test -e ok', dependsOn: ['build'] };
    await rig.executed(flow([build({ cache: { fingerprint: ['file:in.txt'] } }), end]));
    rmSync(path('dist'), { recursive: true });
    expect(await rig.executed()).toEqual({});
    expect(rig.read('dist/report.txt')).toBe('one');
  });
});
