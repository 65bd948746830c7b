import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { Example } from './request.js';

const FIELDS = ['name', 'input', 'output', 'judge', 'files'];
const FORM = 'an example is {input, output}, with an optional judge (words) and files ({path: text})';

/** An example as written by the user; `name` is the default for its name. */
export function readExample(
  value: JsonValue,
  name: string,
): { readonly example: Example } | { readonly problem: string } {
  const bad = (what: string) => ({ problem: `the example ${name} ${what}: ${FORM}` });
  if (!isJsonObject(value)) return bad('is no object');
  const unknown = Object.keys(value).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) return bad(`has an unknown field "${unknown}"`);
  const { input, judge, files, output } = value;
  if (!isJsonObject(input ?? null)) return bad('has no input');
  if (judge !== undefined && (typeof judge !== 'string' || judge.trim() === ''))
    return bad('has a judge without words');
  if (files !== undefined && !areTexts(files)) return bad('has files that are no texts');
  return {
    example: {
      name: typeof value['name'] === 'string' ? value['name'] : name,
      input: input as JsonObject,
      ...(output !== undefined && { output }),
      ...(judge !== undefined && { judge: judge as string }),
      ...(files !== undefined && { files: files as Record<string, string> }),
    },
  };
}

function areTexts(files: JsonValue): boolean {
  return isJsonObject(files) && Object.values(files).every((text) => typeof text === 'string');
}
