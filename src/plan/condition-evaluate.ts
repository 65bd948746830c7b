import { PATTERN_MS } from '../model/limits.js';
import { systemClock } from '../util/clock.js';
import type { Comparison, ConditionNode } from './condition-parse.js';
import { testPattern } from './pattern.js';
import { type Lookup, renderTemplate, valueText } from './template.js';

/** `error`: a pattern ran out of time, so that there is no answer. */
type ConditionResult = { readonly value: boolean; readonly error?: undefined } | { readonly error: string };

/** Never throws. A missing value counts as empty. */
export function evaluateCondition(node: ConditionNode, lookup: Lookup): ConditionResult {
  const value = evaluate(node, { lookup, patternsMs: PATTERN_MS });
  return value instanceof PatternFailure ? { error: value.message } : { value: isTruthy(value) };
}

/** A value, not an exception: it travels up through the operators. */
class PatternFailure {
  constructor(readonly message: string) {}
}

interface Evaluation {
  readonly lookup: Lookup;
  /** The remaining time for patterns: all of them share one limit. */
  patternsMs: number;
}

function evaluate(node: ConditionNode, given: Evaluation): unknown {
  switch (node.type) {
    case 'or':
    case 'and':
      return evaluateChain(node.type === 'or', node.operands, given);
    case 'not': {
      const value = evaluate(node.operand, given);
      return value instanceof PatternFailure ? value : !isTruthy(value);
    }
    case 'compare': {
      const left = evaluate(node.left, given);
      if (left instanceof PatternFailure) return left;
      const right = evaluate(node.right, given);
      return right instanceof PatternFailure ? right : compare(left, node.operator, right);
    }
    case 'matches': {
      const left = evaluate(node.left, given);
      if (left instanceof PatternFailure) return left;
      const startedAt = systemClock.elapsed();
      const found = testPattern({ source: node.pattern, flags: node.flags }, comparedText(left), given.patternsMs);
      given.patternsMs -= systemClock.elapsed() - startedAt;
      return 'error' in found ? new PatternFailure(found.error) : found.value;
    }
    case 'ref': {
      const found = given.lookup(node.ref);
      return found.found ? found.value : undefined;
    }
    case 'text':
      return renderTemplate(node.template, given.lookup).text;
    case 'literal':
      return node.value;
  }
}

function evaluateChain(isOr: boolean, operands: readonly ConditionNode[], given: Evaluation): boolean | PatternFailure {
  for (const operand of operands) {
    const value = evaluate(operand, given);
    if (value instanceof PatternFailure) return value;
    if (isTruthy(value) === isOr) return isOr;
  }
  return !isOr;
}

const FALSY_WORDS: ReadonlySet<string> = new Set(['', 'false', 'no', 'off', 'null', '0']);

export function isTruthy(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0 && !Number.isNaN(value);
  if (typeof value === 'string') return !FALSY_WORDS.has(value.trim().toLowerCase());
  return Array.isArray(value) ? value.length > 0 : Object.keys(value as object).length > 0;
}

const NUMERIC = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && NUMERIC.test(value) ? Number(value) : undefined;
}

/** Missing and null count as empty text, so that `{x} == ""` and `{x} == null` are both true for them. */
function comparedText(value: unknown): string {
  return value === undefined || value === null ? '' : valueText(value);
}

function compare(left: unknown, operator: Comparison, right: unknown): boolean {
  if (operator === 'contains') return contains(left, right);
  const leftNumber = numberOf(left);
  const rightNumber = numberOf(right);
  if (leftNumber !== undefined && rightNumber !== undefined) return ORDER[operator](leftNumber, rightNumber);
  return ORDER[operator](comparedText(left), comparedText(right));
}

type Orders = (left: number | string, right: number | string) => boolean;

const ORDER: Readonly<Record<Exclude<Comparison, 'contains'>, Orders>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '>': (left, right) => left > right,
  '<=': (left, right) => left <= right,
  '>=': (left, right) => left >= right,
};

/** A list contains its elements, an object its names, a text its parts. */
function contains(left: unknown, right: unknown): boolean {
  if (Array.isArray(left)) return left.some((element) => compare(element, '==', right));
  if (typeof left === 'object' && left !== null) return Object.hasOwn(left, comparedText(right));
  return comparedText(left).includes(comparedText(right));
}
