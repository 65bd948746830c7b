import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';

/** An event is a JSON object with a `type`; anything else on the line is not one. */
export function readEvent(line: string): (JsonObject & { readonly type: string }) | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    if (!isJsonObject(value)) return undefined;
    const { type } = value;
    return typeof type === 'string' ? { ...value, type } : undefined;
  } catch {
    // Cut off, or not JSON: the caller keeps a sample.
    return undefined;
  }
}

export function objectAt(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isJsonObject(value) ? value : {};
}

export function textAt(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === 'string' ? value : undefined;
}

export function numberAt(object: JsonObject, name: string): number {
  const value = object[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

export function objectsAt(object: JsonObject, name: string): readonly JsonObject[] {
  const value: JsonValue | undefined = object[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
