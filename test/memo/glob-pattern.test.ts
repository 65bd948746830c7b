import fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, test } from 'vitest';
import { compileGlob } from '../../src/memo/files/glob-pattern.js';

const segment = fc.constantFrom('a', 'b', 'ab', '.a', 'a.ts', 'b.ts', 'x-y', 'a$b', 'a|b');
const patternSegment = fc.oneof(segment, fc.constantFrom('*', '**', '?', 'a*', '*.ts', '*b', '.*', 'a?', '*.*'));
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const pattern = fc.array(patternSegment, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));

describe('patterns', () => {
  test('mean what they mean everywhere else', async () => {
    await fc.assert(
      fc.asyncProperty(pattern, path, async (glob, name) => {
        const ours = await compileGlob(glob);
        const theirs = picomatch(glob.replaceAll('|', '\\|'), { dot: true });
        // A pattern that ends in /** also matches the folder itself for them; here only files are asked about.
        fc.pre(!glob.endsWith('/**') || !picomatch(glob.slice(0, -3).replaceAll('|', '\\|'), { dot: true })(name));
        // A pattern without a wildcard may name a folder.
        fc.pre(!ours.literal || !name.startsWith(`${glob}/`));
        expect(ours.matches(name), `${glob} on ${name}`).toBe(theirs(name));
      }),
      { numRuns: 3_000 },
    );
  });

  test('no folder is passed over that holds a match', async () => {
    await fc.assert(
      fc.asyncProperty(pattern, path, async (glob, name) => {
        const ours = await compileGlob(glob);
        if (!ours.matches(name)) return;
        const names = name.split('/');
        for (let i = 1; i < names.length; i++) expect(ours.mayContain(names.slice(0, i).join('/'))).toBe(true);
        expect(ours.base === '' || name.startsWith(ours.base)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    ['src/{a,b}/*.ts', 'src/b/x.ts', true],
    ['src/[ab].ts', 'src/b.ts', true],
    ['src/!(a).ts', 'src/b.ts', true],
    ['src/!(a).ts', 'src/a.ts', false],
    ['{x,src/**}', 'src/deep/a.ts', true],
    ['./src//*.ts', 'src/a.ts', true],
    ['src/', 'src/deep/a.ts', true],
    ['.', 'anything/at/all', true],
    ['a/**', 'ab/x', false],
    ['**/*.ts', 'xts', false],
  ])('%s on %s: %s', async (glob, name, matches) => {
    expect((await compileGlob(glob)).matches(name)).toBe(matches);
  });
});
