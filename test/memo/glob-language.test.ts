import fc from 'fast-check';
import glob from 'fast-glob';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFiles } from '../../src/memo/files/find-files.js';
import { hasWildcards, parseGlob } from '../../src/memo/files/glob-pattern.js';
import { selectPaths } from '../../src/memo/files/select-paths.js';
import { captureOutputs } from '../../src/memo/output-files.js';
import { openStore } from '../../src/store/disk-store.js';
import { LIMITS } from '../contracts/store-support.js';
import { CASES, TREE } from '../support/glob-cases.js';
import { createRig, phaseOf, type Rig } from '../support/rig.js';
import { type TestProject, testProject } from './support.js';

describe('a pattern means the same', () => {
  let p: TestProject;
  let rig: Rig;
  beforeAll(() => {
    p = testProject();
    rig = createRig();
    for (const path of TREE) {
      p.write(path, path);
      rig.write(path, path);
    }
  });
  afterAll(() => {
    p.remove();
    rig.remove();
  });

  test.each(CASES)('in glob: %s', async (pattern, meant) => {
    const result = await p.fingerprints().resolve(`glob:${pattern}`, { ownOutputs: [] });
    expect('value' in result && Object.keys(result.value.parts ?? {}).sort()).toEqual(meant);
  });

  test.each(CASES)('in outputs: %s', async (pattern, meant) => {
    const store = openStore({ dir: p.stateDir, project: p.project, limits: LIMITS });
    const kept = await captureOutputs([pattern], { project: p.project, store });
    expect('files' in kept && kept.files.map(({ path }) => path)).toEqual(meant);
  });

  test.each(CASES)('among paths: %s', async (pattern, meant) => {
    // `findFiles` leaves node_modules out unless it is named; a path that somebody gives is not left out.
    const paths = TREE.filter((path) => !path.includes('node_modules') || pattern.includes('node_modules'));
    expect([...(await selectPaths(paths, [pattern]))].sort()).toEqual(meant);
  });

  test('in context, all of them', async () => {
    const phases = CASES.map(([pattern], i) => ({ id: `p${i}`, type: 'agent', task: 'x', context: [pattern] }));
    const result = await rig.run({ name: 'c', phases });
    for (const [i, [pattern, meant]] of CASES.entries()) {
      const text = phaseOf(result, `p${i}`).output;
      const named = [...text.matchAll(/<file path=("[^\n]+")>/g)].map(([, name]) => JSON.parse(name!));
      expect(named, pattern).toEqual(meant);
    }
  });

  test('and never leaves the project', async () => {
    for (const pattern of ['{/etc,g}/hosts', '{../x,g}/*', '{..,g}/*', '@(..|g)/c.txt', 'g/../../*', '..*/*']) {
      const found = await findFiles(parseGlob(pattern), { root: p.root });
      const paths = 'failed' in found ? [] : found.paths;
      expect(
        paths.filter((path) => !path.startsWith('g/')),
        pattern,
      ).toEqual([]);
    }
    for (const pattern of ['{/etc,g}/*', '../*', 'g/../../nothing/*']) {
      expect(await findFiles(parseGlob(pattern), { root: p.root }), pattern).toMatchObject({
        failed: expect.stringContaining('leaves the project'),
      });
    }
  });
});

test('plain names and patterns are distinguished as the library does', () => {
  const piece = fc.constantFrom(
    'a',
    '/',
    '*',
    '?',
    '[',
    ']',
    '{',
    '}',
    ',',
    '..',
    '(',
    ')',
    '|',
    '!',
    '+',
    '@',
    '\\',
    '.',
  );
  const text = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, (pattern) => {
      expect(hasWildcards(pattern), pattern).toBe(glob.isDynamicPattern(pattern));
    }),
    { numRuns: 5_000 },
  );
});

test('a pattern that the library cannot work with is a failure with a reason', async () => {
  const p = testProject();
  expect(await p.value('glob:{1..100000}.log')).toMatch(/^failed: \{1\.\.100000\}\.log cannot be used as a pattern: /);
  expect(await selectPaths(['1.log'], ['{1..100000}.log'])).toEqual(new Set());
  p.remove();
});
