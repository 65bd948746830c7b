import type { JsonObject, JsonValue } from '../../model/json.js';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Effect } from '../journal/lines.js';
import type { IdentityParts } from '../reuse/identify.js';

/** So much of each text is kept to be shown. */
const SHOWN = 2_000;

export function effectOf(at: PhaseContext, unit: string | undefined, parts: IdentityParts): Effect {
  const { body, env = {}, context = [], cwd = '.' } = parts;
  return {
    unit: unit === undefined ? undefined : unitPlace(unit, parts),
    body: sha256Hex(canonicalEncode({ body, context, cwd })),
    env: sha256Hex(canonicalEncode(env)),
    inputs: at.run.io.secrets.maskValue(shown(body, Object.keys(env))),
  };
}

function unitPlace(label: string, { variables, ordinal = 0 }: IdentityParts): string {
  if (!variables?.item) return label;
  const value = sha256Hex(canonicalEncode(variables.item.value)).slice(0, 16);
  return ordinal === 0 ? value : `${value}-${ordinal}`;
}

function shown(body: JsonObject, variables: readonly string[]): JsonObject {
  const texts: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(body)) texts[name] = withShortTexts(value);
  return variables.length === 0 ? texts : { ...texts, env: [...variables] };
}

function withShortTexts(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value;
  return Array.isArray(value) ? value.map(withShortTexts) : value;
}

/** True when the two would do the same. */
export function isSameEffect(a: Pick<Effect, 'body' | 'env'>, b: Pick<Effect, 'body' | 'env'>): boolean {
  return a.body === b.body && a.env === b.env;
}
