import process from 'node:process';
import { Validator } from '@cfworker/json-schema';
import type { JsonSchemaType, jsonSchemaValidator } from '@modelcontextprotocol/server';

/**
 * Checks what a client sends. The library's own checker compiles every schema of every tool before the first answer,
 * which takes most of the start; this one reads a schema when it is needed.
 */
export const VALIDATOR: jsonSchemaValidator = {
  getValidator(schema: JsonSchemaType) {
    let validator: Validator | undefined;
    return (value: unknown) => {
      validator ??= new Validator(schema as never, '2020-12', false);
      const { valid, errors } = validator.validate(value);
      if (valid) return { valid, data: value as never, errorMessage: undefined };
      const leaves = errors.filter(({ keyword }) => keyword !== 'properties' && keyword !== 'items');
      const problems = leaves.map(({ instanceLocation, error }) => `${instanceLocation.slice(2) || 'value'}: ${error}`);
      return { valid: false, data: undefined, errorMessage: problems.slice(0, 3).join('; ') };
    };
  },
};

/**
 * For our own answers: tests with a real client hold that they fit their schemas, and checking them here would take a
 * fifth of a call.
 */
export const TRUSTING: jsonSchemaValidator = {
  getValidator: () => (value: unknown) => ({ valid: true, data: value as never, errorMessage: undefined }),
};

/** In the bundle this module replaces the library's platform choice, whose checker would add 150 KB. */
export class DefaultJsonSchemaValidator implements jsonSchemaValidator {
  readonly getValidator = VALIDATOR.getValidator;
}
export { process };
