import { LARGEST_FILE, LARGEST_YAML, tooLarge } from './decode.js';
import { type Parsed, parseJson } from './json.js';

/** Parses a flow file's text, with places on demand; or returns its syntax errors. */
export async function parseText(file: string, text: string): Promise<Parsed> {
  const isJson = /\.jsonc?$/i.test(file);
  const most = isJson ? LARGEST_FILE : LARGEST_YAML;
  if (text.length > most) return { problems: [tooLarge(most)] };
  if (isJson) return parseJson(text);
  const { parseYaml } = await import('./yaml.js');
  return parseYaml(text);
}
