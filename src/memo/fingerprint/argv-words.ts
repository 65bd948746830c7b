/**
 * Splits `git log "--format=%H %s"` into words: blanks separate, single and double quotes hold together, a backslash
 * takes the next character as it is. Nothing is expanded: no shell is involved. Undefined when a quote stays open.
 */
export function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (quote !== '' && char === quote) {
      quote = '';
    } else if (quote === '' && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (char === '\\' && quote !== "'" && i + 1 < text.length) {
      i += 1;
      word = (word ?? '') + text[i];
    } else if (quote === '' && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote !== '') return undefined;
  if (word !== undefined) words.push(word);
  return words;
}
