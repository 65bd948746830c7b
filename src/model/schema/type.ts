import type * as TypeBox from '@sinclair/typebox';

/**
 * The constructors of TypeBox that the language is written with. They make the same schemas, and the types are TypeBox's
 * own; loading the library itself takes longer than checking a flow of a hundred phases.
 */
type Constructors = Pick<
  typeof TypeBox.Type,
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
>;

type Schema = Record<string | symbol, unknown>;

const OPTIONAL = Symbol('optional');

/** It is marked on the property itself, as TypeBox does. */
export function isOptional(schema: object): boolean {
  return OPTIONAL in schema;
}

const constructors = {
  Array: (items: Schema, options?: Schema) => ({ ...options, type: 'array', items }),
  Boolean: (options?: Schema) => ({ ...options, type: 'boolean' }),
  Integer: (options?: Schema) => ({ ...options, type: 'integer' }),
  Literal: (value: unknown, options?: Schema) => ({ ...options, const: value, type: typeof value }),
  Number: (options?: Schema) => ({ ...options, type: 'number' }),
  Object: (properties: Record<string, Schema>, options?: Schema) => {
    const required = Object.keys(properties).filter((name) => !isOptional(properties[name]!));
    return { ...options, type: 'object', ...(required.length > 0 && { required }), properties };
  },
  Optional: (schema: Schema) => ({ ...schema, [OPTIONAL]: true }),
  /** Of texts: no other keys are used. */
  Record: (_key: Schema, value: Schema, options?: Schema) => ({
    ...options,
    type: 'object',
    patternProperties: { '^(.*)$': value },
  }),
  String: (options?: Schema) => ({ ...options, type: 'string' }),
  Union: (schemas: readonly Schema[], options?: Schema) => ({ ...options, anyOf: schemas }),
  Unknown: (options?: Schema) => ({ ...options }),
};

export const Type = constructors as unknown as Constructors;
