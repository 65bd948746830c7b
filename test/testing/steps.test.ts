import { describe, expect, it } from 'vitest';
import { compareSteps } from '../../src/testing/expect/compare-steps.js';
import { mismatches } from '../../src/testing/expect/matchers.js';
import type { Step } from '../../src/testing/expect/steps.js';

const step = (name: string, was: Step['was'], more: Partial<Step> = {}): Step => ({ name, was, also: [], ...more });

const STEPS = [
  step('files', 'executed'),
  step('notes[src/a.ts]', 'reused', { also: ['notes[1]'] }),
  step('notes[src/b.ts]', 'executed', { also: ['notes[2]'] }),
  step('review/check', 'reused'),
];

const said = (wanted: string[], was: Step['was'], steps: readonly Step[] = STEPS) =>
  compareSteps(wanted, steps, was).map(({ message }) => message);

describe('executed and reused', () => {
  it('are lists of everything: what is left out and what is too much is named', () => {
    expect(said(['files', 'notes[src/b.ts]'], 'executed')).toEqual([]);
    expect(said(['files', 'notes[2]'], 'executed')).toEqual([]);
    expect(said(['files', 'notes'], 'executed')).toEqual([]);
    expect(said(['notes'], 'executed')).toEqual(['files was executed too']);
    expect(said([], 'executed')).toEqual(['files, notes[src/b.ts] were executed too']);
    expect(said(['files', 'notes', 'review'], 'executed')).toEqual([
      'review was not executed: review/check was reused',
    ]);
  });

  it('a phase is reused only if all of its items are', () => {
    expect(said(['notes[src/a.ts]', 'review/check'], 'reused')).toEqual([]);
    expect(said(['notes', 'review'], 'reused')).toEqual(['notes was not reused: notes[src/b.ts] was executed']);
  });

  it('in a batch, a phase is that of any row, or of the row that is named', () => {
    const rows = [step('method', 'executed', { row: 'Tides' }), step('method', 'reused', { row: 'Dunes' })];
    expect(said(['method'], 'executed', rows)).toEqual([]);
    expect(said(['Tides/method'], 'executed', rows)).toEqual([]);
    expect(said(['Dunes/method'], 'executed', rows)).toEqual([
      'Dunes/method was not executed: it was reused',
      'Tides/method was executed too',
    ]);
    expect(said(['method'], 'reused', rows)).toEqual([]);
  });
});

describe('matchers', () => {
  const words = (text: string, wanted: Parameters<typeof mismatches>[1]) =>
    mismatches({ text }, wanted).map(({ path, message }) => `${path.join('.')} ${message}`);

  it('each says what is not met', () => {
    expect(words('one two', { contains: ['one', 'six'], lacks: 'two' })).toEqual([
      'contains.1 lacks "six"; it is "one two"',
      'lacks has "two"',
    ]);
    expect(words('one\n', { equals: 'one' })).toEqual([]);
    expect(words('one', { equals: 'two' })).toEqual(['equals is "one", not "two"']);
    expect(words('a\nb', { matches: '^b$' })).toEqual([]);
    expect(words('a', { matches: 'b' })).toEqual(['matches does not match /b/; it is "a"']);
    expect(words('{"a": 1, "b": [2, 3]}', { json: { b: [2, 3] } })).toEqual([]);
    expect(words('{"a": 1, "b": [2, 3]}', { json: { b: [2], c: null } })).toEqual([
      'json.b is [2,3], not [2]',
      'json.c is not there, not null',
    ]);
    expect(words('[1]', { equals: [1, 2] })).toEqual(['equals is [1], not [1,2]']);
    expect(words('plain', { json: {} })).toEqual(['json is not there, not {}']);
  });
});
