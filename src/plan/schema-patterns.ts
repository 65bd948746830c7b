import { isSlowPattern } from './pattern.js';

/** A pattern in a JSON Schema, with its path. */
interface SchemaPattern {
  readonly source: string;
  readonly path: readonly (string | number)[];
}

/** Every `pattern`, and every name of `patternProperties`. */
export function schemaPatterns(schema: unknown, path: readonly (string | number)[] = []): SchemaPattern[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const found: SchemaPattern[] = [];
  for (const [name, member] of Object.entries(schema)) {
    const at = [...path, Array.isArray(schema) ? Number(name) : name];
    if (name === 'pattern' && typeof member === 'string') found.push({ source: member, path: at });
    if (name === 'patternProperties' && typeof member === 'object' && member !== null) {
      for (const source of Object.keys(member)) found.push({ source, path: [...at, source] });
    }
    found.push(...schemaPatterns(member, at));
  }
  return found;
}

/** The pattern that made a schema take too long, if it was one. */
export function slowPatternIn(schema: unknown): string | undefined {
  const patterns = schemaPatterns(schema);
  const slow = patterns.find(({ source }) => isSlowPattern({ source, flags: 'u' }));
  return (slow ?? (patterns.length === 1 ? patterns[0] : undefined))?.source;
}
