import { extractJson } from '../check/generated.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import { parsedJson } from '../util/if-there.js';
import { normalized } from './identity.js';
import type { AssembleRequest } from './request.js';

/** The planner's answer as the definition of a flow; undefined when it is not JSON of that shape. */
export function definitionOf(answer: string, request: AssembleRequest): JsonObject | undefined {
  const value = parsedJson(extractJson(answer)) as JsonValue | undefined;
  const flow = Array.isArray(value) ? { phases: value } : value;
  if (flow === undefined || !isJsonObject(flow) || !('phases' in flow)) return undefined;
  const { $schema: _schema, ...rest } = flow;
  // The name is part of every key, so a repair must not change it; the arguments follow from the input schema.
  return { ...rest, name: nameOf(request.task), args: argsOf(request.input) };
}

const LONGEST_NAME = 48;

/** `summarise-a-pull-request-by-risk`. */
function nameOf(task: string): string {
  const words = normalized(task)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-');
  const name = words.slice(0, LONGEST_NAME + 1).replace(/^-+/, '');
  const whole = name.length > LONGEST_NAME ? name.slice(0, name.lastIndexOf('-', LONGEST_NAME)) : name;
  return whole.replace(/-+$/, '') || 'assembled';
}

/** The argument type for each type of JSON Schema; any other type is `json`. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
};

/** The arguments of a flow whose input has this shape. */
function argsOf({ properties = {}, required = [] }: JsonObject): JsonObject {
  const args: Record<string, JsonValue> = {};
  for (const [name, schema] of Object.entries(properties as JsonObject)) {
    const { type, description, default: given } = isJsonObject(schema) ? schema : {};
    args[name] = {
      type: (typeof type === 'string' && TYPES[type]) || 'json',
      ...(typeof description === 'string' && { description }),
      ...(given !== undefined && { default: given }),
      ...((required as readonly JsonValue[]).includes(name) && given === undefined && { required: true }),
    };
  }
  return args;
}
