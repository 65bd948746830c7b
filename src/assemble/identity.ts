import { canonicalEncode } from '../util/canonical.js';
import { sha256Hex } from '../util/digest.js';
import { LANGUAGE_DIGEST } from './language-digest.js';
import type { AssembleRequest, Example } from './request.js';

/** Raised when the planner is told something else in a way that makes old plans worse than new ones. */
const PLANNER_VERSION = 1;

interface IdentityParts {
  readonly request: AssembleRequest;
  /** Of the flow language's schema. */
  readonly language?: string;
  readonly planner?: number;
}

/**
 * Names what was asked for: the same words, shapes and examples, in the same language, are the same plan. Agents and
 * runners have no part in it: one more agent must not replan everything. What a plan *uses* is looked at separately.
 */
export function inputIdOf({ request, language = LANGUAGE_DIGEST, planner = PLANNER_VERSION }: IdentityParts): string {
  const { task, input, output, examples } = request;
  const parts = { task: normalized(task), input, output, examples: unordered(examples), language, planner };
  return sha256Hex(canonicalEncode(parts));
}

/** Blanks and line ends are no difference. */
export function normalized(task: string): string {
  return task.normalize('NFC').trim().replaceAll(/\s+/g, ' ');
}

/** Neither the order nor the names of the examples matter. */
function unordered(examples: readonly Example[]): readonly string[] {
  return [...new Set(examples.map(({ name: _name, ...example }) => canonicalEncode(example)))].sort();
}

/** Names a flow by what it says. */
export function flowIdOf(definition: unknown): string {
  return sha256Hex(canonicalEncode(definition));
}
