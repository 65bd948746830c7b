import { isJsonObject, type JsonObject, type JsonValue } from '../../../model/json.js';
import { isForbiddenName } from '../../../model/names.js';

/** A row of a JSON or YAML file: names and values, or one bare value for the argument `as`. */
export function fromValue(
  value: JsonValue,
  as: string,
): { readonly values: JsonObject } | { readonly problem: string } {
  if (isJsonObject(value)) {
    const forbidden = Object.keys(value).find(isForbiddenName);
    return forbidden === undefined
      ? { values: value }
      : { problem: `"${forbidden}" is not allowed as an argument's name` };
  }
  if (value === null || Array.isArray(value)) {
    return { problem: `a row is an object of arguments or one value, not ${value === null ? 'null' : 'a list'}` };
  }
  return { values: { [as]: value } };
}
