import { type PlaceholderRef, readPlaceholder } from './placeholder.js';

export type Token = { readonly offset: number; readonly length: number } & (
  | { readonly type: 'operator'; readonly text: string }
  | { readonly type: 'ref'; readonly ref: PlaceholderRef }
  /** Quoted. `raw`: between the quotes with only the quotes unescaped, which is what a pattern needs. */
  | { readonly type: 'string'; readonly value: string; readonly raw: string }
  | { readonly type: 'pattern'; readonly source: string; readonly flags: string }
  | { readonly type: 'word'; readonly text: string }
);

export interface ConditionError {
  readonly ok: false;
  readonly offset: number;
  readonly length: number;
  readonly message: string;
  readonly hint?: string;
}

const OPERATORS = ['||', '&&', '==', '!=', '<=', '>=', '<', '>', '!', '(', ')'];
const SPACE = /\s/;
const WORD = /[^\s&|!=<>()"'{}]+/y;
const PATTERN = /\/((?:[^/\\\n]|\\.)+)\/([a-z]*)/y;

/** All tokens with their places, or the first character that starts no token. */
export function readTokens(text: string, itemName: string): readonly Token[] | ConditionError {
  const tokens: Token[] = [];
  let index = 0;
  while (index < text.length) {
    if (SPACE.test(text[index]!)) {
      index += 1;
      continue;
    }
    const pattern = isWord(tokens.at(-1), 'matches') ? readPattern(text, index) : undefined;
    const token = pattern ?? readToken(text, index, itemName);
    if ('ok' in token) return token;
    tokens.push(token);
    index += token.length;
  }
  return tokens;
}

export function isWord(token: Token | undefined, text: string): boolean {
  return token?.type === 'word' && token.text === text;
}

/** `/source/flags`, which only `matches` may have on its right. */
function readPattern(text: string, offset: number): Token | undefined {
  PATTERN.lastIndex = offset;
  const found = PATTERN.exec(text);
  return found ? { type: 'pattern', source: found[1]!, flags: found[2]!, offset, length: found[0].length } : undefined;
}

function readToken(text: string, offset: number, itemName: string): Token | ConditionError {
  const char = text[offset]!;
  if (char === '{') return readRef(text, offset, itemName);
  if (char === '"' || char === "'") return readQuoted(text, offset, char);
  const operator = OPERATORS.find((candidate) => text.startsWith(candidate, offset));
  if (operator) return { type: 'operator', text: operator, offset, length: operator.length };
  WORD.lastIndex = offset;
  const word = WORD.exec(text)?.[0];
  if (word) return { type: 'word', text: word, offset, length: word.length };
  const doubled: Record<string, string> = { '=': '==', '&': '&&', '|': '||' };
  const hint = doubled[char] ? `did you mean "${doubled[char]}"?` : undefined;
  return { ok: false, offset, length: 1, message: `"${char}" is no operator`, ...(hint ? { hint } : {}) };
}

function readRef(text: string, offset: number, itemName: string): Token | ConditionError {
  const found = readPlaceholder(text, offset, itemName);
  if (found && 'root' in found) return { type: 'ref', ref: found, offset, length: found.length };
  if (found) return { ok: false, offset, length: found.length, message: found.message };
  const end = text.indexOf('}', offset);
  const length = end === -1 ? 1 : end - offset + 1;
  const message =
    end === -1 ? 'this placeholder is not closed' : `${text.slice(offset, end + 1).slice(0, 80)} is no placeholder`;
  return {
    ok: false,
    offset,
    length,
    message,
    hint: 'placeholders look like {steps.ID.output}, {args.NAME} or {item}',
  };
}

function readQuoted(text: string, offset: number, quote: string): Token | ConditionError {
  let value = '';
  let raw = '';
  for (let index = offset + 1; index < text.length; index++) {
    const char = text[index]!;
    if (char === quote) return { type: 'string', value, raw, offset, length: index - offset + 1 };
    const next = text[index + 1];
    if (char === '\\' && (next === quote || next === '\\')) {
      value += next;
      raw += next === quote ? quote : '\\\\';
      index += 1;
    } else {
      value += char;
      raw += char;
    }
  }
  return { ok: false, offset, length: text.length - offset, message: 'this text has no closing quote' };
}
