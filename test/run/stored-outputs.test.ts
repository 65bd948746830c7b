import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileAtomic } from '../../src/util/atomic-write.js';
import { sha256Hex } from '../../src/util/digest.js';
import { createRig, phaseOf, type Rig } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const MB = 1_000_000;
/** Prints so many letters, and notes that it did. */
const prints = (id: string, bytes: number, more: object = {}) => ({
  id,
  type: 'script',
  run: ['sh', '-c', `bin/tick ${id} > /dev/null; head -c ${bytes} /dev/zero | tr '\\0' z; echo`],
  ...more,
});
const flow = (phases: object[], more: object = {}) => ({ name: 'large', phases, ...more });
const pathOf = (file: { readonly path: string } | undefined) => join(rig.root, file!.path);
const runsOf = () => join(rig.root, '.pi/taskflows/runs');

describe('who needs the text of a large output reads it', () => {
  it('in an argument, a condition, JSON and a contract', async () => {
    const result = await rig.run(
      flow([
        prints('big', 2 * MB),
        { id: 'list', type: 'script', run: `printf '['; seq -s, 1 400000 | tr -d '\\n'; printf ']'`, output: 'json' },
        { id: 'held', type: 'script', run: 'echo held', when: '{steps.big.output} matches /z$/' },
        { id: 'third', type: 'script', run: ['echo', '{steps.list.json.2}'] },
        {
          id: 'kept',
          type: 'script',
          run: 'cat',
          input: '{steps.list.output}',
          output: 'json',
          expect: { type: 'array', minItems: 400_000 },
        },
        { id: 'quoted', type: 'script', input: 'before {steps.big.output} after', run: 'wc -c' },
        { id: 'whole', type: 'script', input: '{steps.big.output}', run: 'wc -c' },
        { id: 'all', type: 'script', run: 'echo', dependsOn: ['held', 'third', 'kept', 'quoted', 'whole'] },
      ]),
    );
    expect(result.error).toBeUndefined();
    expect(phaseOf(result, 'held').output).toBe('held');
    expect(phaseOf(result, 'third').output).toBe('3');
    expect(phaseOf(result, 'kept').outputFile).toEqual({
      ...phaseOf(result, 'list').outputFile,
      path: phaseOf(result, 'kept').outputFile?.path,
    });
    expect(phaseOf(result, 'quoted').output.trim()).toBe(String(2 * MB + 'before  after'.length));
    // As with a small one, the line end at the end is no part of it.
    expect(phaseOf(result, 'whole').output.trim()).toBe(String(2 * MB));
  });

  it('and hears that it is too large for a text, in words', async () => {
    const big = prints('big', 34 * MB);
    const asArgument = await rig.run(flow([big, { id: 'b', type: 'script', run: ['echo', '{steps.big.output}'] }]));
    expect(phaseOf(asArgument, 'b').error).toMatchObject({
      code: 'limit',
      message: expect.stringMatching(/\{steps\.big\.output\}: the output has 32\.4 MB, .* may have 32 MB/),
      hint: expect.stringContaining('input: "{steps.ID.output}"'),
    });
    const when = await rig.run(
      flow([big, { id: 'b', type: 'script', run: 'true', when: '{steps.big.output} == "x"' }]),
    );
    expect(when.status).toBe('failed');
    expect(when.error?.message).toContain('the output has 32.4 MB');
    const asJson = await rig.run(flow([{ ...big, output: 'json' }]));
    expect(phaseOf(asJson, 'big').error?.code).toBe('limit');
    const whole = await rig.run(
      flow([big, { id: 'b', type: 'script', run: 'wc -c', input: '{previous.output}', dependsOn: ['big'] }]),
    );
    expect(phaseOf(whole, 'b').output.trim()).toBe(String(34 * MB));
  });

  it('bytes that are no text go through it one by one', async () => {
    const bytes = Buffer.from(Array.from({ length: 2 * MB }, (_, index) => (index * 7) % 256));
    writeFileSync(join(rig.root, 'bytes.bin'), bytes);
    const result = await rig.run(
      flow([
        { id: 'a', type: 'script', run: 'cat bytes.bin' },
        { id: 'b', type: 'script', input: '{steps.a.output}', run: 'cat' },
      ]),
    );
    const { outputFile } = phaseOf(result, 'b');
    expect(outputFile).toMatchObject({ digest: sha256Hex(bytes), bytes: bytes.length });
    expect(readFileSync(pathOf(outputFile)).equals(bytes)).toBe(true);
  });

  it('items of a map together: their text and the list of their values', async () => {
    const run = ['sh', '-c', `printf '%s' "$0"; head -c ${MB} /dev/zero | tr '\\0' "$0"`, '{item}'];
    const result = await rig.run(
      flow([
        { id: 'each', type: 'map', over: ['a', 'b', '"'], run },
        { id: 'second', type: 'script', input: '{steps.each.json.1}', run: 'head -c 3; echo; wc -c' },
        { id: 'text', type: 'script', input: '{steps.each.output}', run: 'wc -c', dependsOn: ['second'] },
      ]),
    );
    expect(phaseOf(result, 'each').json).toBeNull();
    expect(phaseOf(result, 'second').output).toBe(`bbb\n${MB + 1 - 3}`);
    const total = 3 * MB + 'ab"'.length + 2 * '\n\n'.length;
    expect(phaseOf(result, 'text').output.trim()).toBe(String(total));
  });

  it('an answer of an agent too', async () => {
    rig.write('bin/agent', `#!/bin/sh\ncat > /dev/null\nhead -c ${2 * MB} /dev/zero | tr '\\0' q\n`, 0o755);
    const asked = { id: 'asked', type: 'agent', task: 'write a lot' };
    const result = await rig.run(
      flow([asked, { id: 'b', type: 'script', input: '{steps.asked.output}', run: 'wc -c' }]),
    );
    expect(phaseOf(result, 'asked').outputFile?.bytes).toBe(2 * MB);
    expect(phaseOf(result, 'b').output.trim()).toBe(String(2 * MB));
  });
});

describe('a large output is kept like any other', () => {
  const cached = () => flow([prints('big', 2 * MB, { cache: { scope: 'cross-run' } })]);
  const blobs = () =>
    execFileSync('find', [join(rig.root, '.pi/taskflows/cache/blobs'), '-type', 'f'])
      .toString()
      .trim();

  it('reused across runs, also when the run that made it is gone', async () => {
    await rig.run(cached());
    rmSync(runsOf(), { recursive: true });
    const second = await rig.run(cached());
    expect(phaseOf(second, 'big').cacheHit).toBe('cross-run');
    expect(readFileSync(pathOf(second.outputFile), 'utf8')).toBe('z'.repeat(2 * MB));
    expect(rig.counts()).toEqual({ big: 1 });
  });

  it.each([
    ['damaged', (path: string) => writeFileAtomic(path, 'y'.repeat(2 * MB))],
    ['missing', (path: string) => rmSync(path)],
  ])('with a %s file it is a miss', async (_how, harm) => {
    await rig.run(cached());
    rmSync(runsOf(), { recursive: true });
    harm(blobs());
    const second = await rig.run(cached());
    expect(phaseOf(second, 'big')).toMatchObject({ cacheHit: null, reason: 'its output is gone' });
    expect(readFileSync(pathOf(second.outputFile), 'utf8')).toBe('z'.repeat(2 * MB));
    const third = await rig.run(cached());
    expect(phaseOf(third, 'big').cacheHit).toBe('cross-run');
    expect(rig.counts()).toEqual({ big: 2 });
  });

  it('in a run that goes on where another one failed, which then may be removed', async () => {
    const failing = flow([
      prints('big', 2 * MB),
      { id: 'b', type: 'script', input: '{steps.big.output}', run: 'wc -c; test -e ok' },
    ]);
    const first = await rig.run(failing);
    expect(first.status).toBe('failed');
    const second = await rig.run(undefined, { continuation: { how: 'resume', runId: first.runId } });
    expect(phaseOf(second, 'big').cacheHit).toBe('run');
    rmSync(join(runsOf(), first.runId), { recursive: true });
    rig.write('ok', '');
    const third = await rig.run(undefined, { continuation: { how: 'resume', runId: second.runId } });
    expect(third.status).toBe('success');
    expect(third.output.trim()).toBe(String(2 * MB));
    expect(rig.counts()).toEqual({ big: 1 });
  });

  it('a file of a run that somebody removed is made again', async () => {
    const failing = flow([
      prints('big', 2 * MB),
      { id: 'b', type: 'script', input: '{steps.big.output}', run: 'exit 1' },
    ]);
    const first = await rig.run(failing);
    rmSync(join(runsOf(), first.runId, 'outputs'), { recursive: true });
    const second = await rig.run(undefined, { continuation: { how: 'resume', runId: first.runId } });
    expect(phaseOf(second, 'big').cacheHit).toBeNull();
    expect(rig.counts()).toEqual({ big: 2 });
  });
});

describe('a secret in a large output', () => {
  const secret = 'hunter2-hunter2';
  const args = { token: { secret: true, required: true } };
  /** The secret lies across two chunks of a pipe. */
  const leaks = (bytes: number) => ({
    id: 'leaks',
    type: 'script',
    run: ['sh', '-c', `head -c ${bytes} /dev/zero | tr '\\0' z; printf hunter2-; sleep 0.1; printf hunter2; echo`],
  });
  const everything = () => execFileSync('grep', ['-rlaF', secret, rig.root, '--include=*'], { encoding: 'utf8' });

  it('is never written to a file, and the next phase gets it all the same', async () => {
    const use = { id: 'use', type: 'script', input: '{steps.leaks.output}', run: `grep -c '${secret.slice(0, 9)}'` };
    const result = await rig.run(flow([leaks(2 * MB), use], { args }), { args: { token: secret } });
    expect(result.error).toBeUndefined();
    expect(phaseOf(result, 'use').output).toBe('1');
    expect(phaseOf(result, 'leaks').outputFile).toBeUndefined();
    expect(phaseOf(result, 'leaks').output).toContain('(secret token)');
    expect(everything).toThrow();
    expect(readdirSync(join(runsOf(), result.runId, 'outputs'))).toEqual([]);
  });

  it('bounds it: there is no other place for it than memory', async () => {
    const result = await rig.run(flow([leaks(40 * MB)], { args }), { args: { token: secret } });
    expect(phaseOf(result, 'leaks').error).toMatchObject({
      code: 'limit',
      message: expect.stringContaining('holds a secret argument'),
    });
    expect(everything).toThrow();
  });
});
