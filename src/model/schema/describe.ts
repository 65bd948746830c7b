import { type TProperties, type TSchema, Type } from '@sinclair/typebox';

/** The text that an editor shows for a field: a title, what it does, and at least one example. */
interface FieldText {
  readonly title: string;
  readonly description: string;
  readonly examples: readonly unknown[];
}

/** Every field of the language is made with this, so that none lacks a description. */
export function field<T extends TSchema>(schema: T, { title, description, examples }: FieldText): T {
  return { ...schema, title, description, examples };
}

/** A field that may be left out. */
export function optional<T extends TSchema>(schema: T, text: FieldText) {
  return Type.Optional(field(schema, text));
}

/** An object that has no other fields than these. */
export function closed<P extends TProperties>(fields: P) {
  return Type.Object(fields, { additionalProperties: false });
}

export function oneOf<const W extends string>(words: readonly W[]) {
  return Type.Union(words.map((word) => Type.Literal(word)));
}

/** A field of other tools, which is accepted and does nothing. */
export function ignored(title: string) {
  return optional(Type.Unknown(), {
    title,
    description: 'Accepted for compatibility; does nothing here.',
    examples: [true],
  });
}
