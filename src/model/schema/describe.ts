import type { TSchema } from '@sinclair/typebox';

/** What an editor shows over a field: a title, what it does, and at least one example. */
export interface FieldText {
  readonly title: string;
  readonly description: string;
  readonly examples: readonly unknown[];
}

/** Every field of the language is made with this, so that none is without its words. */
export function field<T extends TSchema>(schema: T, title: string, description: string, ...examples: unknown[]): T {
  return { ...schema, title, description, examples };
}
