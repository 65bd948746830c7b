import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../src/model/diagnostic.js';
import { renderDiagnostic } from '../../src/parse/frame.js';

const plain = (text: string) => text;
const style = { error: plain, warning: plain, quiet: plain };

function draw(written: string, columns?: number): string[] {
  const column = written.indexOf('BAD') + 1;
  const problem: Diagnostic = {
    file: 'a.yaml',
    line: 1,
    column,
    length: 3,
    severity: 'error',
    code: 'c',
    message: 'm',
  };
  return renderDiagnostic(problem, written, { ...style, columns })
    .split('\n')
    .slice(1);
}

describe('the mark stands below its place', () => {
  const lines = [
    'BAD',
    `${'a'.repeat(20)}BAD${'b'.repeat(200)}`,
    `${'a'.repeat(35)}BAD`,
    `${'a'.repeat(500)}BAD${'b'.repeat(500)}`,
  ];
  test.each([undefined, 30, 40, 80, 200])('on a terminal of %s columns', (columns) => {
    for (const written of lines) {
      const [shown, mark] = draw(written, columns);
      const at = mark!.indexOf('^^^');
      expect(shown!.slice(at, at + 3)).toBe('BAD');
      if (columns !== undefined && columns >= 40) expect(shown!.length).toBeLessThanOrEqual(columns);
    }
  });
});
