import { describe, expect, it } from 'vitest';
import { nearestName } from '../../src/util/nearest.js';

describe('the name that was most likely meant', () => {
  it.each([
    ['scna', ['scan', 'plan'], 'scan'],
    ['SCAN', ['scan'], 'scan'],
    ['ab', ['ac', 'xyz'], 'ac'],
    ['review', ['review-each', 'scan'], 'review-each'],
    ['write-the-whole-report', ['report', 'scan'], 'report'],
  ])('for %s of %j: %s', async (name, known, expected) => {
    expect(await nearestName(name, known)).toBe(expected);
    expect(await nearestName(name, new Set(known).values())).toBe(expected);
  });

  it.each([
    ['q', ['a']],
    ['q', ['a', 'b', 'c']],
    ['xyz', ['scan']],
    ['review', ['review-each-file', 'review-all-files']],
    ['a', ['a-very-long-name']],
    ['scan', []],
  ])('there is none for %s of %j', async (name, known) => {
    expect(await nearestName(name, known)).toBeUndefined();
  });
});
