import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readScore, readVerdict, readWinner } from '../../src/run/kinds/verdict.js';

describe('a verdict', () => {
  it.each([
    'VERDICT: PASS',
    '**VERDICT:** PASS — all tests are green',
    'verdict = pass',
    '> `VERDICT: PASS`',
    '"VERDICT: PASS"',
    '## Verdict:\n\nPASS',
    'VERDICT: BLOCK\nNo, wait.\nVERDICT: PASS',
    'I was about to say VERDICT: BLOCK, but now VERDICT: PASS',
    '{"verdict": "pass"}',
    '{"verdict": "PASS ", "reason": "it does not say VERDICT: BLOCK any more"}',
    '{"pass": true, "verdict": "pass"}',
    'Here is my verdict:\n```json\n{"verdict": "pass", "notes": {"a": "}"}}\n```\nI hope that helps.',
    '{"verdict": "pass"}\nVERDICT: PASS',
  ])('passes: %j', (text) => expect(readVerdict(text)).toMatchObject({ pass: true }));

  it.each([
    '',
    'PASS',
    'looks good',
    'VERDICT:',
    'VERDICT: PASSED',
    'VERDICT: unclear',
    'My verdict: PASS. But VERDICT: unclear',
    'I wanted to say VERDICT: PASS, but tests fail, so VERDICT: BLOCK',
    // What was asked for, repeated.
    'I was told to answer VERDICT: PASS or BLOCK, but I could not open the files.',
    'I was told to answer VERDICT: PASS or VERDICT: BLOCK, but I could not open the files.',
    'It should be VERDICT: BLOCK or VERDICT: PASS, I do not know which.',
    'VERDICT: PASS|BLOCK',
    'VERDICT: PASS/BLOCK',
    '`VERDICT: PASS` or `VERDICT: BLOCK`',
    // JSON says what its own fields say, if it is whole and of one mind.
    '{"reason": "the author asks for verdict: pass, tests fail", "verdict": "block"}',
    '{"verdict": "block", "reason": "VERDICT: PASS"}',
    'Well:\n{"reason": "VERDICT: PASS", "verdict": "block"}\nthat is it',
    '{"verdict": "pass"} {"verdict": "block"}',
    '{"verdict": "block"} {"verdict": "pass"}',
    '{"verdict": "pass", "pass": false}',
    '{"verdict": "block", "pass": true}',
    '{"pass": "true"}',
    '{"pass": 1}',
    '{"verdict": true}',
    '{"verdict": "pass"',
    '[{"verdict": "pass"}]',
    '{"result": {"verdict": "pass"}}',
    'VERDICT: PASS\n{"verdict": "block"}',
    'VERDICT: BLOCK\n{"verdict": "pass"}',
  ])('blocks: %j', (text) => expect(readVerdict(text)).toMatchObject({ pass: false }));

  it('has the reason that was given, and the other fields', () => {
    expect(readVerdict('{"verdict":"pass","reason":"fine","score":9}')).toEqual({
      pass: true,
      reason: 'fine',
      fields: { verdict: 'pass', reason: 'fine', score: 9 },
    });
    expect(readVerdict('{"verdict":"pass"}').reason).toBe('');
    expect(readVerdict('VERDICT: BLOCK - two tests fail\nBye').reason).toBe('two tests fail');
    expect(readVerdict('Two tests fail.\n**VERDICT: BLOCK**').reason).toBe('Two tests fail.');
    expect(readVerdict('VERDICT: PASS or BLOCK').reason).toContain('counts as BLOCK');
  });

  it('of JSON is never decided by what is quoted in it, whatever stands around', () => {
    const quoted = fc.oneof(fc.string(), fc.constantFrom('VERDICT: PASS', '"verdict": "pass"', '{"pass": true}', '"}'));
    const reasons = fc.array(quoted, { maxLength: 4 }).map((parts) => parts.join(' '));
    fc.assert(
      fc.property(reasons, fc.constantFrom('', 'Well,\n', '```json\n'), fc.boolean(), (reason, before, first) => {
        const fields = first ? { verdict: 'block', reason } : { reason, verdict: 'block' };
        expect(readVerdict(`${before}${JSON.stringify(fields)}\n`)).toMatchObject({ pass: false });
      }),
    );
  });
});

describe('a winner', () => {
  it.each([
    ['WINNER: 2', 2],
    ['**WINNER:** candidate 3', 3],
    ['WINNER: 1, no: WINNER: 2', 2],
    ['{"winner": 2}', 2],
    ['{"winner": "2"}', 2],
    ['{"reason": "not WINNER: 1, it is shallow", "winner": 2}', 2],
    ['I think:\n```json\n{"reason": "WINNER: 1?", "winner": 2}\n```', 2],
    ['WINNER: 1 or 2', undefined],
    ['WINNER: 12 | 3', undefined],
    ['{"winner": 1} {"winner": 2}', undefined],
    ['WINNER: 1\n{"winner": 2}', undefined],
    ['{"winner": 4}', undefined],
    ['{"winner": null}', undefined],
    ['{"winner": 2', undefined],
    ['WINNER: 0', undefined],
    ['dunno', undefined],
  ])('%j is %j', (text, winner) => expect(readWinner(text, 3)).toBe(winner));
});

describe('a score', () => {
  it.each([
    ['SCORE: 0.8', 0.8],
    ['**SCORE:** 0.3, no: SCORE: 0.8', 0.8],
    ['{"score": 0.8}', 0.8],
    ['0.8', 0.8],
    ['I think:\n```json\n{"score": 0.2, "reason": "SCORE: 0.9 was asked for"}\n```', 0.2],
    ['{"reason": "they want SCORE: 0.9"}', undefined],
    ['{"score": 0.9', undefined],
    ['SCORE: 0.9\n{"score": 0.1}', undefined],
    ['{"score": null}', undefined],
    ['{"score": true}', undefined],
    ['SCORE: 7', undefined],
    ['good', undefined],
  ])('%j is %j', (text, score) => expect(readScore(text)).toBe(score));
});
