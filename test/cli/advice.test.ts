import { expect, test } from 'vitest';
import { createStyle } from '../../src/cli/terminal/style.js';
import { adviceLines } from '../../src/cli/text/advice.js';

const style = createStyle(false);
const advice = [
  ['taskflow trace r1', 'shows every attempt'],
  ['taskflow resume r1', 'goes on'],
] as const;

test('what to type next: the effects stand below each other', () => {
  expect(adviceLines(advice, { style, columns: 80 })).toEqual([
    '  → taskflow trace r1     shows every attempt',
    '  → taskflow resume r1    goes on',
  ]);
  expect(adviceLines(advice, { style })).toEqual(adviceLines(advice, { style, columns: 80 }));
});

test('a narrow terminal has the effect on a line of its own, so that nothing breaks inside a word', () => {
  expect(adviceLines(advice, { style, columns: 40 })).toEqual([
    '  → taskflow trace r1',
    '    shows every attempt',
    '  → taskflow resume r1',
    '    goes on',
  ]);
});
