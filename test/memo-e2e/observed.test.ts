import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { phaseOf } from '../support/rig.js';
import { answering, createMemoRig, flow, type MemoRig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
  rig.write('src/a.txt', 'one');
});
afterEach(() => rig.remove());

const path = (name: string) => join(rig.root, name);
/** An agent whose client says that it read these files. */
const reading = (files: readonly string[], more: object = {}) =>
  flow([answering('a', { text: 'said', filesRead: files }, more)]);
const reason = async () => phaseOf(await rig.run(), 'a').reason;

describe('what the client says it read', () => {
  beforeEach(async () => {
    expect(await rig.executed(reading(['src/a.txt']))).toEqual({ a: 1 });
  });

  it('unchanged is a hit', async () => {
    expect(await rig.executed()).toEqual({});
    expect(phaseOf(await rig.run(), 'a').cacheHit).toBe('cross-run');
  });

  it('changed is a miss that names the file; changed back is a hit', async () => {
    writeFileSync(path('src/a.txt'), 'two');
    expect(await reason()).toBe('read last time and changed since: src/a.txt');
    expect(await rig.executed()).toEqual({});
    writeFileSync(path('src/a.txt'), 'one');
    expect(await rig.executed()).toEqual({});
    writeFileSync(path('src/a.txt'), 'two');
    expect(await rig.executed()).toEqual({});
  });

  it('removed is a miss that says so', async () => {
    rmSync(path('src/a.txt'));
    expect(await reason()).toBe('src/a.txt disappeared');
  });

  it('another file is no miss', async () => {
    rig.write('src/b.txt', 'new');
    expect(await rig.executed()).toEqual({});
  });
});
