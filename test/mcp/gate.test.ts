import { expect, it } from 'vitest';
import { shortAnswer } from '../../src/mcp/answer.js';
import { MOST_CHARACTERS } from '../../src/mcp/cut.js';
import { Gate } from '../../src/mcp/gate.js';
import { withFlag } from '../../src/mcp/line.js';
import type { JsonObject } from '../../src/model/json.js';

it('so many go through a gate at once, the others wait in order, and a flood is refused', async () => {
  const gate = new Gate(2, 3);
  const order: number[] = [];
  let inside = 0;
  let most = 0;
  const go = (number: number) =>
    gate.through(async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push(number);
      inside -= 1;
      return number;
    });
  const answers = await Promise.all([1, 2, 3, 4, 5, 6, 7].map(go));
  expect(answers.slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
  expect(answers.slice(5)).toEqual(Array(2).fill({ problem: expect.stringContaining('3 calls are waiting already') }));
  expect([order, most]).toEqual([[1, 2, 3, 4, 5], 2]);
  expect(await go(8)).toBe(8);
});

it('a gate whose work throws lets the next one in', async () => {
  const gate = new Gate(1, 1);
  await expect(gate.through(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await gate.through(async () => 'fine')).toBe('fine');
});

it('whatever is answered fits, and what fits is left as it is', () => {
  const small = { a: 'x'.repeat(15_000), b: [1, 2, 3] };
  expect(shortAnswer({ value: small, whole: 'taskflow runs' })).toEqual({ value: small, text: JSON.stringify(small) });
  const rows = Array.from({ length: 10_000 }, (_, row) => ({ row, text: 'y'.repeat(300), more: { deep: [['z']] } }));
  const names = Object.fromEntries(rows.map(({ row }) => [`name-${row}`, 'v'.repeat(500)]));
  const large: JsonObject[] = [{ rows }, { names }, { text: 'x'.repeat(1e6) }, { rows, names, text: '😀'.repeat(1e5) }];
  for (const one of large) {
    const { value, text } = shortAnswer({ value: one, whole: 'taskflow runs' });
    expect(value['cut']).toBe('shortened; the whole: taskflow runs');
    expect(text).toBe(JSON.stringify(value));
    expect(text.length).toBeLessThanOrEqual(MOST_CHARACTERS + 100);
    expect(text).not.toMatch(/\\ud83d["…]/);
  }
});

it('flags stand before the words that a client gave', () => {
  expect(withFlag(['runs', 'show', '--', '--json'], '--json')).toEqual(['runs', 'show', '--json', '--', '--json']);
});
