import { isTextList } from '../model/json.js';
import type { Path } from '../parse/locate.js';
import { schemaPatterns } from '../plan/schema-patterns.js';
import type { Problems } from './problem.js';
import { checkReferences } from './schema-references.js';
import { warnIfSlow } from './slow-patterns.js';

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
/** Keywords that hold one schema, a list of them, or several by name. */
const ONE = ['items', 'not', 'if', 'then', 'else', 'contains', 'additionalProperties', 'propertyNames'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];

/** Finds common mistakes in a JSON Schema, with which a validator would silently let everything pass. */
export function checkJsonSchema(schema: unknown, path: Path, problems: Problems): void {
  checkPart(schema, path, problems);
  checkReferences(schema, path, problems);
  for (const { source, path: inside } of schemaPatterns(schema)) {
    warnIfSlow(problems, [...path, ...inside], { source, flags: 'u' });
  }
}

function checkPart(schema: unknown, path: Path, problems: Problems): void {
  if (typeof schema === 'boolean') return;
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    problems.error(path, 'bad-schema', 'a JSON Schema is an object');
    return;
  }
  const fields = schema as Readonly<Record<string, unknown>>;
  checkKeywords(fields, path, problems);
  for (const keyword of ONE) {
    const inner = fields[keyword];
    if (inner === undefined) continue;
    if (keyword === 'items' && Array.isArray(inner)) checkAll(inner, [...path, keyword], problems);
    else checkPart(inner, [...path, keyword], problems);
  }
  for (const keyword of LISTS) {
    const inner = fields[keyword];
    if (inner === undefined) continue;
    if (Array.isArray(inner)) checkAll(inner, [...path, keyword], problems);
    else problems.error([...path, keyword], 'bad-schema', `"${keyword}" is a list of schemas`);
  }
  for (const keyword of NAMED) {
    const inner = fields[keyword];
    if (inner === undefined) continue;
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) {
      problems.error([...path, keyword], 'bad-schema', `"${keyword}" is an object of schemas`);
      continue;
    }
    for (const [name, member] of Object.entries(inner)) checkPart(member, [...path, keyword, name], problems);
  }
}

function checkAll(schemas: readonly unknown[], path: Path, problems: Problems): void {
  for (const [index, inner] of schemas.entries()) checkPart(inner, [...path, index], problems);
}

function checkKeywords(fields: Readonly<Record<string, unknown>>, path: Path, problems: Problems): void {
  const { type, required, enum: values, pattern } = fields;
  for (const name of Array.isArray(type) ? type : type === undefined ? [] : [type]) {
    if (typeof name === 'string' && TYPES.includes(name)) continue;
    problems.error([...path, 'type'], 'bad-schema', {
      message: `${JSON.stringify(name)} is no type of JSON Schema`,
      suggest: { name: String(name), known: TYPES },
    });
  }
  if (required !== undefined && !isTextList(required)) {
    problems.error([...path, 'required'], 'bad-schema', '"required" is a list of names');
  }
  if (values !== undefined && !Array.isArray(values)) {
    problems.error([...path, 'enum'], 'bad-schema', '"enum" is a list of values');
  }
  if (pattern === undefined) return;
  try {
    new RegExp(String(pattern), 'u');
  } catch (error) {
    problems.error([...path, 'pattern'], 'bad-schema', `this is no pattern: ${(error as Error).message}`);
  }
}
