import type { Failure } from '../../model/failure.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import { evaluateCondition } from '../../plan/condition-evaluate.js';
import { type ConditionNode, conditionRefs, parseCondition } from '../../plan/condition-parse.js';
import { nextTurn } from '../../util/timer.js';
import { isLongTurn } from '../../util/turn.js';
import type { Variables } from '../core/scope.js';
import { itemNameOf, lookupIn, type Site } from './render.js';

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
  // A pattern may take its whole time, and the next condition too.
  if (isLongTurn()) await nextTurn();
  const lookup = lookupIn(site, variables);
  let failure: Failure | undefined;
  const result = evaluateCondition(node, (ref) => {
    const found = lookup(ref);
    if (!found.found) failure ??= found.failure;
    return found;
  });
  if (failure) return { failure: { ...failure, message: `the condition ${text}: ${failure.message}` } };
  if (result.error !== undefined) {
    return { failure: { code: 'bad-input', message: `the condition ${text}: ${result.error}` } };
  }
  return { value: result.value };
}

/** What the placeholders of a condition stand for, by how they are written: the part of it that is not its text. */
export function conditionInputs(site: Site, text: string, variables: Variables): JsonObject {
  const condition = parseCondition(text, itemNameOf(site.phase));
  if (!condition.ok) return {};
  const lookup = lookupIn(site, variables);
  const inputs: Record<string, JsonValue> = {};
  for (const ref of conditionRefs(condition.condition)) {
    const found = lookup(ref);
    inputs[ref.text] = found.found ? ((found.value ?? null) as JsonValue) : null;
  }
  return inputs;
}
