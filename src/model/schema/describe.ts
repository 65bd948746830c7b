import { type TSchema, Type } from '@sinclair/typebox';

/** What an editor shows over a field: a title, what it does, and at least one example. */
interface FieldText {
  readonly title: string;
  readonly description: string;
  readonly examples: readonly unknown[];
}

/** Every field of the language is made with this, so that none lacks a description. */
export function field<T extends TSchema>(schema: T, { title, description, examples }: FieldText): T {
  return { ...schema, title, description, examples };
}

/** A field that flows of other tools may have, and that does nothing here. */
export function ignored(title: string) {
  return Type.Optional(
    field(Type.Unknown(), { title, description: 'Accepted for compatibility; does nothing here.', examples: [true] }),
  );
}
