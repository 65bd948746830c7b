import { isJsonObject, type JsonObject } from '../../model/json.js';
import { strictJson } from '../core/output.js';

/** What a judge has said, in its two notations: what stands inside of JSON is quoted there, and is not said. */
export interface Answer {
  /** The JSON objects in it, in order; the whole answer may be one. */
  readonly objects: readonly JsonObject[];
  /** The rest, without Markdown. */
  readonly prose: string;
}

const QUOTE = '"';
/** Text full of opening braces is no JSON, and each of them costs a look. */
const MOST_BRACES = 200;

export function readAnswer(text: string): Answer {
  const whole = strictJson(text.trim());
  if (typeof whole === 'string') return readAnswer(whole);
  if (whole !== undefined) return { objects: isJsonObject(whole) ? [whole] : [], prose: '' };
  const objects: JsonObject[] = [];
  let prose = '';
  let rest = 0;
  let braces = 0;
  for (let start = text.indexOf('{'); start !== -1 && braces < MOST_BRACES; start = text.indexOf('{', start + 1)) {
    braces += 1;
    const end = endOfObject(text, start);
    const value = end === undefined ? undefined : strictJson(text.slice(start, end));
    if (end === undefined || value === undefined || !isJsonObject(value)) continue;
    objects.push(value);
    prose += `${text.slice(rest, start)}\n`;
    rest = end;
    start = end - 1;
  }
  return { objects, prose: (prose + text.slice(rest)).replaceAll(/[*_`~#>]/g, '') };
}

/** Just behind the brace that closes the one at `start`. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let index = start; index < text.length; index++) {
    const char = text[index];
    if (quoted && char === '\\') index += 1;
    else if (char === QUOTE) quoted = !quoted;
    else if (!quoted && char === '{') depth += 1;
    else if (!quoted && char === '}') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return undefined;
}
