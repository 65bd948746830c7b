import process from 'node:process';
import { Validator } from '@cfworker/json-schema';
import type { JsonSchemaType, jsonSchemaValidator } from '@modelcontextprotocol/server';

/**
 * Checks what a client sends, and what we answer. The library's own checker compiles every schema of every tool before
 * the first message is answered, which is most of the start; this one reads a schema when it is needed.
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

/** In the bundle this module stands for the library's choice by platform, whose checker would be 150 KB. */
export class DefaultJsonSchemaValidator implements jsonSchemaValidator {
  readonly getValidator = VALIDATOR.getValidator;
}
export { process };
