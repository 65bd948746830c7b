import type { CST } from 'yaml';
import { DEEPEST_NESTING, nestingProblem, type SyntaxProblem } from './tree.js';

export type Yaml = typeof import('yaml');

const MOST_PROPERTIES = 10_000;

/**
 * Feeds the parser piece by piece, to stop early at a file that is made to be expensive: the later stages recurse, and
 * make an error object for every odd property.
 */
export function readYamlTokens(yaml: Yaml, text: string): { tokens: CST.Token[] } | { problem: SyntaxProblem } {
  const parser = new yaml.Parser();
  const tokens: CST.Token[] = [];
  let offset = 0;
  let properties = 0;
  for (const lexeme of new yaml.Lexer().lex(text)) {
    // A collection and its entry take at most two places on the parser's stack.
    if (parser.stack.length > 2 * DEEPEST_NESTING + 10) return { problem: nestingProblem(offset) };
    if (/^[!&%]/.test(lexeme)) {
      properties += 1;
      if (properties > MOST_PROPERTIES) return { problem: tooManyProperties(offset) };
    }
    for (const token of parser.next(lexeme)) tokens.push(token);
    offset = parser.offset;
  }
  for (const token of parser.end()) tokens.push(token);
  const problem = findTooDeep(tokens);
  return problem ? { problem } : { tokens };
}

function tooManyProperties(offset: number): SyntaxProblem {
  return { offset, length: 1, code: 'syntax', message: `more than ${MOST_PROPERTIES} anchors, tags and directives` };
}

/** By levels, not by recursion. */
function findTooDeep(tokens: readonly CST.Token[]): SyntaxProblem | undefined {
  let level: (CST.Token | null | undefined)[] = [...tokens];
  for (let depth = 0; level.length > 0; depth++) {
    const next: (CST.Token | null | undefined)[] = [];
    for (const token of level) {
      if (!token) continue;
      if (token.type === 'document') next.push(token.value);
      if (!('items' in token)) continue;
      if (depth > DEEPEST_NESTING) return nestingProblem(token.offset);
      for (const item of token.items) next.push(item.key, item.value);
    }
    level = next;
  }
  return undefined;
}

/** Finds the start of a quoted text that runs to the end of the file. */
export function unclosedQuote(tokens: readonly CST.Token[]): SyntaxProblem | undefined {
  const pending: (CST.Token | null | undefined)[] = [...tokens];
  for (let token = pending.pop(); pending.length > 0 || token; token = pending.pop()) {
    if (!token) continue;
    if (token.type === 'document') pending.push(token.value);
    else if ('items' in token) for (const item of token.items) pending.push(item.key, item.value);
    else if (token.type === 'double-quoted-scalar' || token.type === 'single-quoted-scalar') {
      const quote = token.source[0]!;
      if (token.source.length > 1 && token.source.endsWith(quote)) continue;
      const length = Math.max(1, token.source.split('\n', 1)[0]!.length);
      return { offset: token.offset, length, code: 'syntax', message: `this text has no closing ${quote}` };
    }
  }
  return undefined;
}
