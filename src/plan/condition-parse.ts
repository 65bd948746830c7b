import { isSlip } from '../util/slip.js';
import { type ConditionError, isWord, readTokens, type Token } from './condition-tokens.js';
import type { PlaceholderRef } from './placeholder.js';
import { parseTemplate, type Template, templateRefs } from './template.js';

export type Comparison = '==' | '!=' | '<' | '>' | '<=' | '>=' | 'contains';

/** A condition that parsed. Texts in quotes may hold placeholders, so they are templates. */
export type ConditionNode =
  | { readonly type: 'or' | 'and'; readonly operands: readonly ConditionNode[] }
  | { readonly type: 'not'; readonly operand: ConditionNode }
  | {
      readonly type: 'compare';
      readonly operator: Comparison;
      readonly left: ConditionNode;
      readonly right: ConditionNode;
    }
  | {
      readonly type: 'matches';
      readonly left: ConditionNode;
      readonly pattern: string;
      readonly flags: string;
    }
  | { readonly type: 'ref'; readonly ref: PlaceholderRef }
  | { readonly type: 'text'; readonly template: Template; readonly offset: number }
  | { readonly type: 'literal'; readonly value: string | number | boolean | null };

type ParsedCondition = { readonly ok: true; readonly condition: ConditionNode } | ConditionError;

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '>', '<=', '>=']);
const COMPARING_WORDS = ['contains', 'matches'] as const;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const DEEPEST = 100;
const LONGEST = 20_000;

/**
 * Loosest first: `||`, `&&`, `!`, then one comparison, `contains` or `matches`. `itemName` is the further name of a
 * map's variable.
 */
export function parseCondition(text: string, itemName = 'item'): ParsedCondition {
  if (text.length > LONGEST) {
    return { ok: false, offset: 0, length: 1, message: `a condition has at most ${LONGEST} characters` };
  }
  const tokens = readTokens(text, itemName);
  if ('ok' in tokens) return tokens;
  if (tokens.length === 0) {
    return { ok: false, offset: 0, length: Math.max(1, text.length), message: 'this condition is empty' };
  }
  return new ConditionParser(text, tokens, itemName).parse();
}

class ConditionParser {
  #index = 0;
  #depth = 0;

  constructor(
    private readonly text: string,
    private readonly tokens: readonly Token[],
    private readonly itemName: string,
  ) {}

  parse(): ParsedCondition {
    const condition = this.#or();
    if ('ok' in condition) return condition;
    const extra = this.tokens[this.#index];
    if (extra) return this.#unexpected(extra);
    return { ok: true, condition };
  }

  #or(): ConditionNode | ConditionError {
    return this.#chain('||', 'or', () => this.#chain('&&', 'and', () => this.#not()));
  }

  #chain(
    operator: string,
    type: 'or' | 'and',
    operand: () => ConditionNode | ConditionError,
  ): ConditionNode | ConditionError {
    const first = operand();
    if ('ok' in first) return first;
    const operands = [first];
    while (this.#takeOperator(operator)) {
      const next = operand();
      if ('ok' in next) return next;
      operands.push(next);
    }
    return operands.length === 1 ? first : { type, operands };
  }

  #not(): ConditionNode | ConditionError {
    let negations = 0;
    while (this.#takeOperator('!')) negations += 1;
    const operand = this.#comparison();
    if ('ok' in operand) return operand;
    // An even number of negations still makes a boolean, not the operand itself.
    if (negations === 0) return operand;
    const once: ConditionNode = { type: 'not', operand };
    return negations % 2 === 1 ? once : { type: 'not', operand: once };
  }

  #comparison(): ConditionNode | ConditionError {
    const left = this.#primary();
    if ('ok' in left) return left;
    const token = this.tokens[this.#index];
    if (token?.type === 'operator' && COMPARISONS.has(token.text)) {
      return this.#compare(left, token.text as Comparison);
    }
    if (isWord(token, 'contains')) return this.#contains(left);
    if (isWord(token, 'matches')) return this.#matches(left);
    return left;
  }

  #compare(left: ConditionNode, operator: Comparison): ConditionNode | ConditionError {
    this.#index += 1;
    const right = this.#primary();
    if ('ok' in right) return right;
    const next = this.tokens[this.#index];
    if (next?.type === 'operator' && COMPARISONS.has(next.text)) {
      return wrong(next, 'comparisons cannot be chained', 'join two comparisons with &&');
    }
    return { type: 'compare', operator, left, right };
  }

  /** Several plain words after `contains` are one text: `{steps.build.output} contains BUILD SUCCESS`. */
  #contains(left: ConditionNode): ConditionNode | ConditionError {
    const from = this.#index + 1;
    const to = this.#endOfSide(from);
    const words = this.tokens.slice(from, to);
    const first = words[0];
    const startsText = first?.type === 'word' || first?.type === 'ref';
    const isText = startsText && words.length > 1 && !words.some(isComparing);
    if (!isText) return this.#compare(left, 'contains');
    this.#index = to;
    const last = words.at(-1)!;
    const template = parseTemplate(this.text.slice(first.offset, last.offset + last.length), this.itemName);
    return { type: 'compare', operator: 'contains', left, right: { type: 'text', template, offset: first.offset } };
  }

  /** Index of the token that ends this side of `&&` and `||`, or closes the parenthesis around it. */
  #endOfSide(from: number): number {
    let open = 0;
    for (let index = from; index < this.tokens.length; index++) {
      const token = this.tokens[index]!;
      if (token.type !== 'operator') continue;
      if (token.text === '(') open += 1;
      else if (token.text === ')') open -= 1;
      if (open < 0 || token.text === '&&' || token.text === '||') return index;
    }
    return this.tokens.length;
  }

  #matches(left: ConditionNode): ConditionNode | ConditionError {
    this.#index += 1;
    const token = this.tokens[this.#index];
    if (!token) return this.#endError();
    this.#index += 1;
    const literal = patternOf(token);
    if (!literal || (token.type === 'string' && templateRefs(parseTemplate(token.value, this.itemName)).length > 0)) {
      const hint = 'write it in quotes or between slashes: {steps.x.output} matches /^ok/i';
      return wrong(token, '"matches" takes a literal pattern', hint);
    }
    const problem = patternProblem(literal.source, literal.flags);
    if (problem) return wrong(token, problem);
    return { type: 'matches', left, pattern: literal.source, flags: literal.flags };
  }

  #primary(): ConditionNode | ConditionError {
    const token = this.tokens[this.#index];
    if (!token) return this.#endError();
    this.#index += 1;
    switch (token.type) {
      case 'ref':
        return { type: 'ref', ref: token.ref };
      case 'string':
        return { type: 'text', template: parseTemplate(token.value, this.itemName), offset: token.offset + 1 };
      case 'word':
        return { type: 'literal', value: wordValue(token.text) };
      case 'pattern':
        return this.#unexpected(token);
      case 'operator':
        return token.text === '(' ? this.#group(token) : this.#unexpected(token);
    }
  }

  #group(open: Token): ConditionNode | ConditionError {
    this.#depth += 1;
    if (this.#depth > DEEPEST) return wrong(open, `more than ${DEEPEST} nested parentheses`);
    const inner = this.#or();
    this.#depth -= 1;
    if ('ok' in inner) return inner;
    if (this.#takeOperator(')')) return inner;
    const next = this.tokens[this.#index];
    if (next) return this.#unexpected(next);
    return wrong(open, 'this parenthesis is not closed');
  }

  #takeOperator(text: string): boolean {
    const token = this.tokens[this.#index];
    if (token?.type !== 'operator' || token.text !== text) return false;
    this.#index += 1;
    return true;
  }

  #endError(): ConditionError {
    return wrong(this.tokens.at(-1)!, 'the condition ends where a value should follow');
  }

  #unexpected(token: Token): ConditionError {
    const { offset, length } = token;
    const written = this.text.slice(offset, offset + Math.min(length, 40));
    if (written === ')' && this.#depth === 0) {
      return wrong(token, 'this ")" closes nothing: a "(" is missing before it');
    }
    // These two start an operand: the operator before it is missing.
    if (token.type === 'operator' && written !== '(' && written !== '!') {
      return wrong(token, `a value is missing before "${written}"`);
    }
    const meant = COMPARING_WORDS.find((word) => isSlip(written, word));
    const hint = meant ? `did you mean ${meant}?` : 'join parts with && or ||, and put text with spaces in quotes';
    return wrong(token, `"${written}" is not expected here`, hint);
  }
}

function wrong({ offset, length }: Token, message: string, hint?: string): ConditionError {
  return { ok: false, offset, length, message, ...(hint !== undefined && { hint }) };
}

/** Compares, or quotes: a text of plain words has none of these. */
function isComparing(token: Token): boolean {
  if (token.type === 'string' || token.type === 'pattern') return true;
  if (token.type === 'operator') return COMPARISONS.has(token.text);
  return COMPARING_WORDS.some((word) => isWord(token, word));
}

function patternOf(token: Token): { source: string; flags: string } | undefined {
  if (token.type === 'pattern') return token;
  if (token.type === 'string') return { source: token.raw, flags: '' };
  if (token.type === 'word') return { source: token.text, flags: '' };
  return undefined;
}

/** Compiling is bounded by the pattern's length; only running it is not. */
export function patternProblem(source: string, flags: string): string | undefined {
  if (!/^[imsu]*$/.test(flags)) return `the flags of a pattern are i, m, s and u, not "${flags}"`;
  if (source.length > 2000) return 'a pattern has at most 2000 characters';
  try {
    new RegExp(source, flags);
    return undefined;
  } catch (error) {
    return `this is no pattern: ${(error as Error).message.replace(/^Invalid regular expression: /, '')}`;
  }
}

function wordValue(word: string): string | number | boolean | null {
  if (word === 'true') return true;
  if (word === 'false') return false;
  if (word === 'null') return null;
  return NUMBER.test(word) ? Number(word) : word;
}

/** The node and all nodes inside it, from left to right. */
export function conditionNodes(node: ConditionNode): readonly ConditionNode[] {
  switch (node.type) {
    case 'or':
    case 'and':
      return [node, ...node.operands.flatMap(conditionNodes)];
    case 'not':
      return [node, ...conditionNodes(node.operand)];
    case 'compare':
      return [node, ...conditionNodes(node.left), ...conditionNodes(node.right)];
    case 'matches':
      return [node, ...conditionNodes(node.left)];
    default:
      return [node];
  }
}

/** Every placeholder of a condition with its place in the condition's text. */
export function conditionRefs(condition: ConditionNode): readonly PlaceholderRef[] {
  return conditionNodes(condition).flatMap((node) => {
    if (node.type === 'ref') return [node.ref];
    if (node.type !== 'text') return [];
    return templateRefs(node.template).map((ref) => ({ ...ref, offset: ref.offset + node.offset }));
  });
}
