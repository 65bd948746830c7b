import { describe, expect, it } from 'vitest';
import { randomFrom } from '../support/random.js';
import { Walk } from './continued-walk.js';

/** Edits and runs of one project, one after the other. */
const STEPS_EACH = 20;
const WALKS = Math.ceil(Number(process.env['TASKFLOW_STEPS'] ?? 100) / STEPS_EACH);
const SEEDS = Array.from({ length: WALKS }, (_, index) => index + 1);

describe('runs that continue each other: edits, failures, kills, two at once, a clock that moves', () => {
  let reused = 0;

  it.concurrent.each(SEEDS)('walk %i: nothing is stale, nothing is done twice', { timeout: 600_000 }, async (seed) => {
    const walk = new Walk(randomFrom(seed * 7919));
    try {
      for (let step = 0; step < STEPS_EACH; step++) await walk.step();
    } catch (error) {
      throw new Error(`${error}\nafter\n${walk.story.join('\n')}`, { cause: error });
    } finally {
      reused += walk.reused;
      walk.remove();
    }
  });

  it('has reused much: a walk in which nothing is ever reused would prove nothing', () => {
    expect(reused).toBeGreaterThan(WALKS * STEPS_EACH * 0.3);
  });
});
