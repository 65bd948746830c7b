import { Type as TypeBox } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { isOptional, Type } from '../../src/model/schema/type.js';

/** Both are given the same; what is published for editors must not depend on which of them made it. */
const SCHEMAS = (T: typeof TypeBox) => ({
  text: T.String({ minLength: 1, description: 'some text' }),
  flag: T.Boolean(),
  count: T.Integer({ minimum: 1 }),
  amount: T.Number({ exclusiveMinimum: 0 }),
  word: T.Literal('all'),
  number: T.Literal(1, { description: 'the only one' }),
  any: T.Unknown({ description: 'whatever' }),
  list: T.Array(T.String(), { minItems: 1 }),
  choice: T.Union([T.Literal('a'), T.Array(T.Integer())], { description: 'one of two' }),
  table: T.Record(T.String(), T.Number(), { description: 'by name' }),
  record: T.Object(
    {
      must: T.String(),
      may: T.Optional(T.Boolean({ default: false })),
      inner: T.Object({ x: T.Optional(T.Number()) }),
    },
    { additionalProperties: false },
  ),
});

describe('our constructors of schemas', () => {
  const ours = SCHEMAS(Type as unknown as typeof TypeBox);
  const theirs = SCHEMAS(TypeBox);

  it.each(Object.keys(theirs) as (keyof typeof theirs)[])('make the same %s as the library', (name) => {
    expect(JSON.parse(JSON.stringify(ours[name]))).toEqual(JSON.parse(JSON.stringify(theirs[name])));
  });

  it('know what is optional', () => {
    const { must, may } = ours.record.properties;
    expect([isOptional(must), isOptional(may)]).toEqual([false, true]);
  });
});
