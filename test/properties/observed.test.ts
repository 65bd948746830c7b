import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { observeSupport } from '../../src/observe/support.js';
import { createMemoRig, cross, type MemoRig } from '../memo-e2e/support.js';
import { effort } from '../support/effort.js';
import { randomFrom } from '../support/random.js';

const env = { PATH: process.env['PATH'] };
const canTrace = 'strace' in (await observeSupport({ root: '/nowhere', home: '/nowhere', env }));

const FILES = ['d/a', 'd/b', 'e/a', 'e/b', 'c'];
const EDITS = effort(60, 1_000);

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig('auto');
});
afterEach(() => rig.remove());

/** Programs that declare nothing: they read, list and look for files, and follow what a file says. */
const PROGRAMS = [
  'cat d/a c 2>/dev/null; true',
  'ls d; test -e e/b && echo there || echo missing',
  'for f in $(ls e); do cat e/$f; done',
  'if grep -q 1 c 2>/dev/null; then cat d/b 2>/dev/null; else cat e/a 2>/dev/null; fi; true',
  'test -d d && ls -a d | wc -l',
];

const flowOf = (observe: string) => ({
  name: 'random',
  phases: PROGRAMS.map((program, at) => ({
    id: `p${at}`,
    type: 'script',
    run: program,
    cache: cross([], { observe }),
  })),
});

/** How many outputs differ from those of runs without any cache, in so many random edits. */
async function staleIn(edits: number, observe: string): Promise<{ stale: number; reused: number }> {
  const random = randomFrom(7);
  rig.write('flow.json', JSON.stringify(flowOf(observe)));
  let stale = 0;
  let reused = 0;
  const afresh = { continuation: { how: 'fresh' } } as const;
  for (let edit = 0; edit < edits; edit += 1) {
    const file = join(rig.root, random.pick(FILES));
    mkdirSync(dirname(file), { recursive: true });
    if (random.below(3) === 0) rmSync(file, { force: true });
    else writeFileSync(file, `${random.below(3)}\n`);
    const cached = await rig.runAs({}, undefined, afresh);
    const oracle = await rig.runAs({}, undefined, { ...afresh, reuse: 'off' });
    for (const [at, { output }] of oracle.phases.entries()) if (cached.phases[at]!.output !== output) stale += 1;
    reused += cached.reuse.crossRun;
  }
  return { stale, reused };
}

it.runIf(canTrace)(
  'random edits: nothing that is reused differs from a run without a cache',
  async () => {
    const { stale, reused } = await staleIn(EDITS, 'auto');
    expect(stale).toBe(0);
    expect(reused).toBeGreaterThan(EDITS);
  },
  1_200_000,
);

it('the same edits find stale results where only what is declared counts', async () => {
  expect((await staleIn(10, 'off')).stale).toBeGreaterThan(0);
}, 120_000);
