import type { Failure } from '../model/failure.js';
import { type ConditionNode, evaluateCondition, parseCondition } from '../plan/condition.js';
import { itemNameOf, lookupIn, type Site } from './render.js';
import type { Variables } from './scope.js';

const parsed = new Map<string, ConditionNode>();

/** A condition that was checked with the flow; generated ones too. A pattern that runs out of time is a failure. */
export async function evaluateText(
  site: Site,
  text: string,
  variables: Variables = {},
): Promise<{ readonly value: boolean } | { readonly failure: Failure }> {
  let node = parsed.get(text);
  if (!node) {
    const result = parseCondition(text, itemNameOf(site.phase));
    if (!result.ok) return { failure: { code: 'bad-flow', message: `the condition ${text}: ${result.message}` } };
    node = result.condition;
    if (parsed.size > 10_000) parsed.clear();
    parsed.set(text, node);
  }
  const result = evaluateCondition(node, lookupIn(site, variables));
  if (result.error !== undefined) {
    return { failure: { code: 'bad-input', message: `the condition ${text}: ${result.error}` } };
  }
  return { value: result.value };
}
