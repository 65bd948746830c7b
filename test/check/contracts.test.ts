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

describe('a contract about JSON', () => {
  const agent = { id: 'a', task: 'x' };

  it.each([{ type: 'object' }, { type: 'array' }, { type: ['object', 'null'] }, { type: 'number' }])(
    '%j can never hold of a text',
    async (expected) => {
      expect(await codes({ ...agent, expect: expected })).toEqual(['warning not-json']);
      expect(await codes({ ...agent, expect: expected, output: 'json' })).toEqual([]);
    },
  );

  it.each([{ required: ['files'] }, { properties: { a: {} } }, { items: { type: 'string' } }])(
    '%j says nothing about a text',
    async (expected) => {
      expect(await codes({ ...agent, expect: expected })).toEqual(['warning not-json']);
    },
  );

  it.each([
    { type: 'string', minLength: 3 },
    { type: ['string', 'null'] },
    { pattern: '^ok' },
    { enum: ['a', 'b'] },
    {},
  ])('%j is a contract about a text', async (expected) => {
    expect(await codes({ ...agent, expect: expected })).toEqual([]);
  });

  it('of a command is held against its text as well', async () => {
    const script = { id: 's', type: 'script', run: ['ls'], expect: { type: 'object' } };
    expect(await codes(script)).toEqual(['warning not-json']);
  });
});
