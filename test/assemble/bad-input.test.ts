import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mountSmallDisk, unmount } from '../support/mounts.js';
import { createPlanRig, GOOD, INPUT, type PlanRig, WRONG } from './support.js';

let rig: PlanRig;
let folder: string;
beforeEach(() => {
  rig = createPlanRig();
  folder = join(rig.root, '.pi/taskflows/assembled');
});
afterEach(() => {
  unmount(folder);
  rig.remove();
});

const text = (value: unknown) => JSON.stringify(value);

describe('one clear message, nothing asked, nothing written', () => {
  it.each([
    ['in.json', text({ type: 'objekt' }), 'the input schema is no JSON Schema: "objekt" is no type of JSON Schema'],
    ['in.json', text([1]), 'in.json is no JSON Schema: that is an object'],
    ['in.json', '{"type": ', 'in.json cannot be read'],
    ['in.json', text({ type: 'string' }), 'the input schema has to describe an object'],
    ['in.json', text({ ...INPUT, properties: { 'a b': {} } }), 'the input\'s property "a b" cannot be an argument'],
    ['out.json', text({ properties: [] }), 'the output schema is no JSON Schema: "properties" is an object of schemas'],
    ['case1.json', text({ input: { word: 3 }, output: { loud: 'X' } }), 'the input of the example case1 does not fit'],
    ['case1.json', text({ input: { word: 'x' }, output: 'X' }), 'the output of the example case1 does not fit'],
    ['case1.json', text({ word: 'x' }), 'the example case1 has an unknown field "word"'],
    ['case1.json', text({ output: 1 }), 'the example case1 has no input'],
    [
      'case1.json',
      text({ input: { word: 'x' }, files: { '../x': 'y' } }),
      'names the file "../x", outside of its folder',
    ],
  ])('%s: %s', async (file, content, message) => {
    rig.write(file, content);
    rig.answers(GOOD);
    const { status, stderr, stdout } = await rig.assemble('--json');
    expect(stderr).toContain(message);
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'refused' });
    expect(rig.counts()).toEqual({});
    expect(existsSync(folder)).toBe(false);
  });

  it.each([
    [['--example', 'gone.json'], 'gone.json cannot be read'],
    [['--max-rounds', '0'], '--max-rounds is a whole number from 1 on'],
    [['--max-usd', '0'], '--max-usd is more than 0'],
    [['word=x'], 'arguments are for --run'],
  ])('%s', async (more, message) => {
    const { status, stderr } = await rig.assemble(...more);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(rig.counts()).toEqual({});
  });

  it('files that are missing are named all at once', async () => {
    const { status, stderr } = await rig.taskflow('assemble', 'x');
    expect(status).toBe(2);
    expect(stderr).toContain('--input is missing');
    expect(stderr).toContain('--output is missing');
  });
});

describe('a full disk', () => {
  /** Fills the disk to the last byte. */
  function fill(): string {
    const filler = join(folder, 'filler');
    for (const size of [4096, 1]) {
      try {
        for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
      } catch {
        // Full, for this size.
      }
    }
    return filler;
  }
  const files = () => readdirSync(folder).filter((name) => name.endsWith('.json'));

  it('before anything is spent: one error, nobody is asked', async (context) => {
    mkdirSync(folder, { recursive: true });
    const problem = mountSmallDisk(folder, '64k');
    if (problem !== undefined) return context.skip(problem);
    const filler = fill();
    rig.answers(GOOD);
    const { status, stderr } = await rig.assemble();
    expect(status).toBe(1);
    expect(stderr.match(/disk is full/g)).toHaveLength(1);
    expect(rig.counts()).toEqual({});
    rmSync(filler);
    expect((await rig.assemble()).status).toBe(0);
  });

  it('afterwards: one error, nothing half-written, and the flow that was paid for on stdout', async (context) => {
    mkdirSync(folder, { recursive: true });
    const problem = mountSmallDisk(folder, '64k');
    if (problem !== undefined) return context.skip(problem);
    rig.answers(WRONG);
    await rig.assemble('--max-rounds', '1');
    const before = files();
    // Room for the claim, and for nothing more.
    const filler = fill();
    writeFileSync(filler, Buffer.alloc(0));
    const free = 64 * 1024 - 4096 * (2 + before.length);
    writeFileSync(filler, Buffer.alloc(Math.max(0, free - 4096)));
    const long = { ...GOOD, description: 'x'.repeat(20_000) };
    rig.answers(long);
    const { status, stderr, stdout } = await rig.assemble('--replan');
    expect(status).toBe(1);
    expect(stderr).toContain('the flow is good, and it cannot be kept in .pi/taskflows/assembled: the disk is full');
    expect(JSON.parse(stdout)).toMatchObject(GOOD);
    expect(files()).toEqual(before);
    rmSync(filler);
    expect(JSON.parse((await rig.taskflow('assemble', 'list', '--json')).stdout)).toHaveLength(1);
  });
});
