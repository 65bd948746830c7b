import { canonicalEncode } from '../util/canonical.js';
import { sha256Hex } from '../util/digest.js';
import { LANGUAGE_DIGEST } from './language-digest.js';
import type { AssembleRequest, Example } from './request.js';

/** Raised when a change of the planner's prompt makes new plans better than old ones. */
const PLANNER_VERSION = 1;

interface IdentityParts {
  readonly request: AssembleRequest;
  /** Digest of the flow language's schema. */
  readonly language?: string;
  readonly planner?: number;
}

/**
 * Identifies a request: the same task, schemas and examples, in the same version of the language, have the same plan.
 * Agents and runners are not part of it: one more agent must not replan everything. `uses.ts` checks what a plan uses.
 */
export function inputIdOf({ request, language = LANGUAGE_DIGEST, planner = PLANNER_VERSION }: IdentityParts): string {
  const { task, input, output, examples } = request;
  const parts = { task: normalized(task), input, output, examples: unordered(examples), language, planner };
  return sha256Hex(canonicalEncode(parts));
}

/** Blanks and line ends make no difference. */
export function normalized(task: string): string {
  return task.normalize('NFC').trim().replaceAll(/\s+/g, ' ');
}

/** Neither the order nor the names of the examples matter. */
function unordered(examples: readonly Example[]): readonly string[] {
  return [...new Set(examples.map(({ name: _name, ...example }) => canonicalEncode(example)))].sort();
}

/** Identifies a flow by its definition. */
export function flowIdOf(definition: unknown): string {
  return sha256Hex(canonicalEncode(definition));
}
