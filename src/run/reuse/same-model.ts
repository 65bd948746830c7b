/** Words in front of a model's name that say where it is served, not which model it is. */
const PLACES = new Set([
  'us',
  'eu',
  'apac',
  'global',
  'models',
  'anthropic',
  'claude',
  'openai',
  'google',
  'meta',
  'mistral',
]);

/**
 * Whether two names mean one model: `sonnet` and `claude-sonnet-4-5-20250929`, `openai/gpt-5` and `gpt-5-2025-08-07`.
 * Names are compared word by word, since `gpt-5-mini` is not `gpt-5`. What may be missing in one of them is where the
 * model is served, its date and, in a name without any number, its version. In doubt they are two: then a result is not
 * kept, which costs a call and deceives nobody.
 */
export function sameModel(asked: string, answered: string): boolean {
  if (asked === answered) return true;
  const a = wordsOf(asked);
  const b = wordsOf(answered);
  return extendsName(a, b) || extendsName(b, a);
}

function extendsName(short: readonly string[], long: readonly string[]): boolean {
  const rest = long.slice(short.length);
  if (short.length === 0 || short.some((word, index) => word !== long[index])) return false;
  const isAlias = short.every((word) => !/\d/.test(word));
  return isAlias ? rest.every((word) => isDate(word) || /^\d+$/.test(word)) : isStamp(rest);
}

/** A date, a revision (`0613`, `001`, `v1:0`) or nothing; never a further number of the version, as in `gpt-5.1`. */
function isStamp(words: readonly string[]): boolean {
  const text = words.join('-');
  return text === '' || /^(?:\d{3,4}|\d{4}-?\d\d-?\d\d|latest|default)?(?:-?v\d+(?:-\d+)?)?$/.test(text);
}

function isDate(word: string): boolean {
  return /^(?:latest|default|v\d+)$/.test(word);
}

function wordsOf(name: string): string[] {
  const last =
    name
      .toLowerCase()
      .replace(/\[[^\]]*\]$/, '')
      .split('/')
      .at(-1) ?? '';
  const words = last.split(/[-_.:@\s]+/).filter((word) => word !== '');
  const first = words.findIndex((word) => !PLACES.has(word));
  return first < 0 ? words : words.slice(first);
}
