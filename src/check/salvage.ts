import type { TProperties, TSchema } from '@sinclair/typebox';
import { type Place, Problems } from './problem.js';
import { checkStructure } from './structure.js';

/**
 * The valid parts of a value with problems, which are already reported, so that one bad entry does not hide the
 * problems of the others. Undefined when no part is valid.
 */
export function salvage(value: unknown, schema: TSchema, { path, problems }: Place): unknown {
  if (checkStructure(value, schema, { path, problems: new Problems() })) return value;
  const options = (schema['anyOf'] ?? [schema]) as readonly TSchema[];
  if (Array.isArray(value)) {
    const list = options.find((option) => option['type'] === 'array');
    return list && salvageList(value, list, { path, problems });
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const objects = options.filter((option) => option['type'] === 'object');
  const object = objects.length === 1 ? objects[0] : undefined;
  return object && salvageObject(value as Record<string, unknown>, object, { path, problems });
}

/** Entries keep their places, because messages name entries by number. */
function salvageList(list: readonly unknown[], schema: TSchema, { path, problems }: Place): unknown {
  const {
    items,
    minItems = 0,
    maxItems = list.length,
  } = schema as {
    items?: TSchema;
    minItems?: number;
    maxItems?: number;
  };
  if (!items || list.length < minItems || list.length > maxItems) return undefined;
  return list.map((entry, index) => {
    const at = [...path, index];
    const good = salvage(entry, items, { path: at, problems });
    if (good !== undefined) return good;
    problems.settle(at);
    return '';
  });
}

function salvageObject(value: Readonly<Record<string, unknown>>, schema: TSchema, { path, problems }: Place): unknown {
  const properties = (schema['properties'] ?? {}) as TProperties;
  const [any] = Object.values((schema['patternProperties'] ?? {}) as TProperties);
  const good: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : any;
    const sound = known && salvage(member, known, { path: [...path, name], problems });
    if (sound !== undefined) good[name] = sound;
  }
  const required = (schema['required'] ?? []) as readonly string[];
  return required.every((name) => Object.hasOwn(good, name)) ? good : undefined;
}
