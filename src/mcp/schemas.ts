import { fromJsonSchema, type JsonSchemaType } from '@modelcontextprotocol/server';
import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { VALIDATOR } from './validator.js';

/** Converts between the two libraries' types of JSON Schema. */
export function standard<T extends TSchema>(schema: T, validator = VALIDATOR) {
  return fromJsonSchema<Static<T>>(schema as unknown as JsonSchemaType, validator);
}

/** The input of a tool: unknown fields are refused. */
export function input<T extends TProperties>(properties: T) {
  return Type.Object(properties, { additionalProperties: false });
}

/** The output of a tool, which may have more fields than are described. */
export function output<T extends TProperties>(properties: T) {
  return Type.Object({
    ...properties,
    cut: Type.Optional(Type.String({ description: 'there if the answer was shortened: how to get the whole' })),
  });
}

export const TEXT = Type.String();
export const MAYBE_TEXT = Type.Union([Type.String(), Type.Null()]);
export const MAYBE_NUMBER = Type.Union([Type.Number(), Type.Null()]);

export const FLOW = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: 'a saved flow by its name, or a flow file of the project by its path',
});
export const RUN = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'id of a run, a unique part of it, or last',
});
export const PHASE = Type.String({ minLength: 1, maxLength: 500, description: 'id of a phase' });
export const ARGS = Type.Record(Type.String(), Type.Unknown(), {
  description: 'arguments of the flow by name (list_flows has them); for a text argument give a string',
});
export const WAIT = Type.Number({
  minimum: 0,
  maximum: 600,
  default: 30,
  description: 'how long to wait for its end, in seconds; 0 returns at once. The run goes on either way',
});

export function list<T extends TSchema>(of: T) {
  return Type.Array(of);
}

const SPENT = Type.Union([Type.Object({ usd: MAYBE_NUMBER, tokens: Type.Number() }), Type.Null()]);

/** The state of a run: `runs show --json`. */
export const RUN_OUTPUT = output({
  runId: TEXT,
  flow: TEXT,
  state: Type.String({
    description: 'running, success, failed, blocked, paused, over-budget, interrupted or crashed',
  }),
  next: Type.Optional(Type.String({ description: 'what to do now' })),
  durationMs: Type.Number(),
  spent: SPENT,
  continues: Type.Optional(MAYBE_TEXT),
  continuedBy: Type.Optional(MAYBE_TEXT),
  phases: Type.Optional(
    list(
      Type.Object({
        id: TEXT,
        status: MAYBE_TEXT,
        cacheHit: Type.Optional(MAYBE_TEXT),
        reason: Type.Optional(TEXT),
        output: Type.Optional(Type.Unknown()),
      }),
    ),
  ),
  rows: Type.Optional(list(Type.Object({ row: Type.Number(), status: TEXT }))),
  waiting: Type.Optional(list(Type.Object({ phase: TEXT, text: TEXT }))),
});
