import { isJsonObject, type JsonObject, objectsIn } from '../model/json.js';
import { parsedJson } from '../util/if-there.js';

/** Undefined for text that is cut off or not a JSON object: callers keep a sample of it. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parsedJson(text);
  return isJsonObject(value) ? value : undefined;
}

/** An event is a JSON object with a `type`; anything else on the line is not one. */
export function readEvent(line: string): (JsonObject & { readonly type: string }) | undefined {
  const value = line.startsWith('{') ? parseObject(line) : undefined;
  return typeof value?.['type'] === 'string' ? { ...value, type: value['type'] } : undefined;
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
  return objectsIn(object[name]);
}
