import { expect, it } from 'vitest';
import { oneAtATime } from '../../src/util/one-at-a-time.js';
import { delay } from '../../src/util/timer.js';

it('runs one after the other, in order, also after one that failed', async () => {
  const inTurn = oneAtATime();
  const log: string[] = [];
  const work = (name: string, fails = false) =>
    inTurn(async () => {
      log.push(`${name} begins`);
      await delay(5);
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const all = await Promise.allSettled([work('a'), work('b', true), work('c')]);
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});
