import { describe, expect, it } from 'vitest';
import { ansiToSvg } from '../../scripts/ansi-to-svg.mjs';
import { textOf } from './pages.js';

/** Where each text begins, and the text. */
function placed(svg: string): readonly (readonly [string, string])[] {
  return [...svg.matchAll(/<text x="([\d.]+)" y="\d+" fill[^>]*>([^<]*)</g)].map(([, x, text]) => [x!, text!]);
}

describe('the picture', () => {
  it('keeps columns apart without wide gaps, which a browser folds, so no letter is stretched', () => {
    const svg = ansiToSvg('\x1b[32m✔\x1b[0m name      12ms · ran\n', { columns: 40, title: 'taskflow' });
    expect(placed(svg)).toEqual([
      ['16.0', '✔'],
      ['32.8', 'name'],
      ['116.8', '12ms · ran'],
    ]);
    expect(svg).not.toContain('spacingAndGlyphs');
  });

  it('is one that this script made, with messages of today (else: npm run picture)', () => {
    const svg = textOf('docs/demo.svg');
    expect(svg).not.toMatch(/spacingAndGlyphs|no entry|spent \$0\.00|warning/);
    expect(placed(svg).filter(([, text]) => text.includes('  '))).toEqual([]);
    for (const words of ['ran (first time)', 'CACHED (cross-run', 'input changed: git:worktree']) {
      expect(svg).toContain(words);
    }
  });
});
