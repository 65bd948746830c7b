import { expect, test } from 'vitest';
import { check } from './support.js';

/** A chain of scripts with declared inputs, as a program would generate it. */
function chain(size: number) {
  const phases = Array.from({ length: size }, (_, i) => ({
    id: `p${i}`,
    type: 'script',
    run: ['true'],
    ...(i > 0 && { dependsOn: [`p${i - 1}`] }),
    cache: { scope: 'cross-run', fingerprint: [`file:in/${i}.txt`] },
    outputs: [`out/${i}.txt`],
  }));
  return { name: 'chain', phases };
}

async function seconds(size: number): Promise<number> {
  const started = performance.now();
  const { flow } = await check(chain(size));
  expect(flow?.phases).toHaveLength(size);
  return (performance.now() - started) / 1_000;
}

test('twenty thousand phases are allowed, and four times the phases take about four times the time', async () => {
  await seconds(1_000);
  const few = await seconds(5_000);
  const many = await seconds(20_000);
  expect(many / few).toBeLessThan(9);
}, 120_000);

test('there is a bound, and it is named', async () => {
  const { flow, diagnostics } = await check({
    name: 'big',
    phases: chain(50_001).phases.map(({ id }) => ({ id, type: 'script', run: ['true'] })),
  });
  expect(flow).toBeUndefined();
  expect(diagnostics.map(({ message }) => message).join()).toContain('50000');
}, 120_000);
