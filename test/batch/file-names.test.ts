import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileNames } from '../../src/run/batch/out/file-names.js';
import { folded } from '../../src/run/batch/out/slug.js';
import { sha256Hex } from '../../src/util/digest.js';

const names = (...labels: string[]) =>
  fileNames(
    labels.map((label, index) => ({
      row: index + 1,
      line: index + 1,
      label,
      args: {},
      publicArgs: {},
      place: sha256Hex(`${label} ${index}`).slice(0, 12),
    })),
    '.md',
  );

describe('file names of rows', () => {
  it('are readable', () => {
    expect(names('Sea level rise', 'Überströmung & Flut', '海面上昇', 'a/b\\c..d')).toEqual([
      'sea-level-rise.md',
      'überströmung-flut.md',
      '海面上昇.md',
      'a-b-c-d.md',
    ]);
  });

  it('leave the first row its plain name and differ for others, also without case and accents', () => {
    const [first, second, third] = names('Café', 'CAFÉ', 'cafe\u0301');
    expect(first).toBe('café.md');
    expect(second).toMatch(/^café-[0-9a-f]{8}\.md$/);
    expect(third).toMatch(/^café-[0-9a-f]{8}\.md$/);
    expect(second).not.toBe(third);
    expect(folded('straße.md')).toBe(folded('STRASSE.md'));
  });

  it('never are the names of the reports, of devices, hidden, empty or too long', () => {
    const made = names('summary', 'batch', 'CON', 'nul', '...', '../../etc/passwd', '', 'x'.repeat(10_000));
    expect(made).not.toContain('summary.md');
    expect(made[2]).toMatch(/^con-[0-9a-f]{8}\.md$/);
    expect(made[3]).toMatch(/^nul-[0-9a-f]{8}\.md$/);
    expect(made[4]).toMatch(/^row-[0-9a-f]{8}\.md$/);
    expect(made[5]).toBe('etc-passwd.md');
    expect(made[7]!.length).toBeLessThan(100);
  });

  it('stay inside the folder and never collide, for any topics', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 70 }), { maxLength: 12 }), (labels) => {
        const made = names(...labels, ...labels.map((label) => label.toUpperCase()));
        expect(new Set(made.map(folded)).size).toBe(made.length);
        for (const name of made) {
          expect(name).toMatch(/^[^./\\\0-\x1f][^/\\\0-\x1f]*\.md$/u);
          expect(Buffer.byteLength(name)).toBeLessThan(255);
        }
      }),
      { numRuns: 100 },
    );
  });
});
