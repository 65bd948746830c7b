import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ranCli } from '../support/effects.js';
import { mountSmallDisk, unmount } from '../support/mounts.js';
import { createRig, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
let runs: string;
beforeEach(() => {
  rig = createRig();
  runs = join(rig.root, '.pi/taskflows/runs');
  mkdirSync(runs, { recursive: true });
});
afterEach(() => {
  unmount(runs);
  rig.remove();
});

/** Fills the disk to the last byte. */
function fill(): string {
  const filler = join(runs, 'filler');
  for (const size of [4096, 1]) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // Full, for this size.
    }
  }
  return filler;
}

it('a side effect whose start cannot be written down is not started: the disk is full', async (context) => {
  const problem = mountSmallDisk(runs, '64k');
  if (problem !== undefined) return context.skip(problem);
  rig.write('flow.json', JSON.stringify({ name: 'full', phases: [ticking('send', { idempotent: false })] }));
  const filler = fill();
  const { status, result } = await ranCli(rig, ['run', './flow.json']);
  expect(rig.counts()).toEqual({});
  expect(status).toBe(1);
  expect(result.error?.message).toMatch(
    /send .*its start cannot be written down \(the disk is full\): it was not started/,
  );
  // Nothing began, so nothing is in doubt.
  rmSync(filler);
  expect((await ranCli(rig, ['run', './flow.json'])).status).toBe(0);
  expect(rig.counts()).toEqual({ send: 1 });
});
