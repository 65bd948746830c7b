import { LARGEST_FILE, tooLarge } from './decode.js';
import { type Parsed, parseJson } from './json.js';

export type { Parsed, Readable } from './json.js';

/** A flow file's text as a value, with places on demand; or what keeps it from being one. */
export async function parseText(file: string, text: string): Promise<Parsed> {
  if (text.length > LARGEST_FILE) return { problems: [tooLarge()] };
  if (/\.jsonc?$/i.test(file)) return parseJson(text);
  const { parseYaml } = await import('./yaml.js');
  return parseYaml(text);
}
