import type { JsonObject, JsonValue } from '../../model/json.js';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import type { PhaseContext } from '../context/phase-context.js';
import { render, renderValue } from '../render/render.js';
import type { UnitSpec } from '../units/unit.js';

/**
 * Numbers equal siblings, so that the second of two equal items does not reuse the first one's result. Siblings are
 * equal if they render to the same; nested flows differ by their items, since each is a scope of its own.
 */
export function withOrdinals<T extends UnitSpec>(at: PhaseContext, specs: readonly T[]): T[] {
  return specs.map(numbering(at, specs));
}

/** Of a longer text only the digest is remembered: all prompts of a large map at once would fill the memory. */
const LONG_TEXT = 256;

/** The same one by one, for a caller with a million of them. Call it with each, in order. */
export function numbering<T extends UnitSpec>(at: PhaseContext, specs: readonly T[]): (spec: T) => T {
  const seen = new Map<string, number>();
  const differing = sharedTemplates(specs);
  return (spec) => {
    const it = renderedParts(at, spec, differing);
    // Only an encoded text begins with a quote, so a text needs no encoding to differ from everything else.
    const text = typeof it === 'string' ? `"${it}` : canonicalEncode(it);
    const what = text.length > LONG_TEXT ? sha256Hex(canonicalEncode(text)) : text;
    const ordinal = seen.get(what) ?? 0;
    seen.set(what, ordinal + 1);
    return ordinal === 0 ? spec : { ...spec, ordinal };
  };
}

function renderedParts(at: PhaseContext, spec: UnitSpec, differing: readonly string[] | undefined): JsonValue {
  const { body, cwd, variables, material } = spec;
  if (body.type === 'use') return variables?.item?.value ?? null;
  // Most maps fill in the item as it is.
  if (variables?.item && isWholly(differing, variables.item.name)) return variables.item.value;
  if (differing?.length === 1) return render(at, differing[0]!, variables).value;
  if (differing) return differing.map((text) => render(at, text, variables).value);
  return [renderValue(at, { ...body, cwd: cwd ?? null } as JsonObject, variables).value, material ?? null];
}

function isWholly(texts: readonly string[] | undefined, name: string): boolean {
  return texts?.length === 1 && texts[0] === `{${name}}`;
}

/** Units with one body, as the items of a map, differ only in what is filled in; undefined for others. */
function sharedTemplates(specs: readonly UnitSpec[]): readonly string[] | undefined {
  const first = specs[0];
  if (!first) return undefined;
  const { body, cwd, material } = first;
  if (!specs.every((spec) => spec.body === body && spec.cwd === cwd && spec.material === material)) return undefined;
  const found: string[] = [];
  const visit = (node: JsonValue | undefined) => {
    if (typeof node === 'string') {
      if (node.includes('{')) found.push(node);
    } else if (typeof node === 'object' && node !== null) {
      for (const member of Object.values(node)) visit(member);
    }
  };
  visit([body as unknown as JsonValue, cwd ?? null]);
  return found;
}
