import { describe, expect, it } from 'vitest';
import { check } from './support.js';

async function codes(...phases: object[]): Promise<readonly string[]> {
  return (await check({ phases })).diagnostics.map(({ severity, code }) => `${severity} ${code}`);
}

describe('a loop that reads inside its own output', () => {
  const loop = { id: 'l', type: 'loop', task: 'x', until: '{steps.l.json.done} == true' };

  it('is told that it has to say output: json', async () => {
    expect(await codes(loop)).toEqual(['warning not-json']);
    expect(await codes({ ...loop, until: '1', task: '{steps.l.json.done}' })).toEqual(['warning not-json']);
  });

  it('unless it does, or reads the text', async () => {
    expect(await codes({ ...loop, output: 'json' })).toEqual([]);
    expect(await codes({ ...loop, until: '{steps.l.output} contains done' })).toEqual([]);
  });
});
