import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { KINDS, type Kind } from '../kind.js';
import { FlowObject } from './flow.js';
import { foreignFields, IGNORED_PHASE_FIELDS, PHASE_FIELDS } from './phase.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/** What a kind needs beyond its fields: alternatives, and smallest numbers. */
const KIND_RULES: Partial<Record<Kind, JsonSchema>> = {
  map: { oneOf: [{ required: ['task'] }, { required: ['run'] }, { required: ['use'] }] },
  reduce: { required: ['from'], properties: { from: { minItems: 1 } } },
  gate: { anyOf: [{ required: ['eval'] }, { required: ['task'] }, { required: ['score'] }] },
  flow: { oneOf: [{ required: ['use'] }, { required: ['def'] }, { required: ['assemble'] }] },
  tournament: {
    anyOf: [{ required: ['task'] }, { required: ['branches'] }],
    properties: { branches: { minItems: 2 } },
  },
  race: { properties: { branches: { minItems: 2 } } },
};

const BRANCH_RULE: JsonSchema = { oneOf: [{ required: ['task'] }, { required: ['run'] }] };

const TITLES: Readonly<Record<Kind, string>> = {
  agent: 'Agent: one call of an agent',
  script: 'Script: one command',
  parallel: 'Parallel: branches side by side',
  map: 'Map: the same for every item of a list',
  reduce: 'Reduce: many outputs to one',
  gate: 'Gate: pass or block',
  approval: 'Approval: a person decides',
  flow: 'Flow: another flow as one phase',
  loop: 'Loop: again until it is done',
  tournament: 'Tournament: candidates and a judge',
  race: 'Race: the first success wins',
  expand: 'Expand: phases made at run time',
};

/**
 * The schema of one kind. Words of other kinds are tolerated through `patternProperties`, where an editor does not
 * offer them.
 */
function kindSchema(kind: Kind): TObject {
  const patterns = Object.fromEntries(
    Object.entries({ ...foreignFields(kind), ...IGNORED_PHASE_FIELDS }).map(([name, schema]) => [`^${name}$`, schema]),
  );
  return Type.Object(PHASE_FIELDS[kind], {
    title: TITLES[kind],
    additionalProperties: false,
    patternProperties: patterns,
  });
}

const PHASE_SCHEMAS = Object.fromEntries(KINDS.map((kind) => [kind, kindSchema(kind)])) as Record<Kind, TObject>;

/**
 * The language as JSON Schema, for editors: made from the same definitions that the checker uses. Draft 7, because that
 * is what editors know best.
 */
export function flowJsonSchema(): JsonSchema {
  const { phases, ...properties } = FlowObject.properties as TProperties;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'urn:taskflow:flow',
    title: 'taskflow flow',
    description: 'A flow: phases of agents and scripts that depend on each other. YAML and JSON are the same language.',
    type: 'object',
    additionalProperties: false,
    properties: { ...properties, phases: { ...phases, items: { $ref: '#/definitions/phase' } } },
    oneOf: ['phases', 'task', 'tasks', 'chain'].map((form) => ({ required: [form] })),
    definitions: {
      phase: {
        type: 'object',
        title: 'Phase',
        description: 'One step of the flow. Its `type` decides which fields it has.',
        required: ['id'],
        properties: { type: PHASE_SCHEMAS.agent.properties['type'] },
        // biome-ignore lint/suspicious/noThenProperty: `then` is a word of JSON Schema.
        allOf: KINDS.map((kind) => ({ if: isOfKind(kind), then: { $ref: `#/definitions/${kind}Phase` } })),
      },
      ...Object.fromEntries(KINDS.map((kind) => [`${kind}Phase`, phaseDefinition(kind)])),
    },
  };
}

/** A phase without a type is an agent phase. */
function isOfKind(kind: Kind): JsonSchema {
  const condition = { properties: { type: { const: kind } } };
  return kind === 'agent' ? condition : { ...condition, required: ['type'] };
}

function phaseDefinition(kind: Kind): JsonSchema {
  const schema = PHASE_SCHEMAS[kind] as unknown as { properties: TProperties; patternProperties: TProperties };
  const rules = KIND_RULES[kind];
  return {
    ...schema,
    properties: mapValues(schema.properties, linked),
    patternProperties: mapValues(schema.patternProperties, linked),
    ...(rules ? { allOf: [rules] } : {}),
  };
}

function mapValues(from: TProperties, change: (schema: TSchema, name: string) => JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(from).map(([pattern, schema]) => [pattern, change(schema, pattern.replaceAll(/[\^$]/g, ''))]),
  );
}

/** Definitions hold flows and phases again, and a branch has one body. */
function linked(schema: TSchema, name: string): JsonSchema {
  if (name === 'def') {
    const forms = [
      { $ref: '#' },
      { type: 'array', items: { $ref: '#/definitions/phase' } },
      { type: 'string', minLength: 1 },
    ];
    return { ...schema, anyOf: forms };
  }
  if (name === 'branches') return { ...schema, items: { ...schema['items'], ...BRANCH_RULE } };
  return schema;
}
