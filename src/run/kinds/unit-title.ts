import { isJsonObject, type JsonValue } from '../../model/json.js';
import { oneLine } from '../../util/terminal-text.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { UnitSpec } from '../units/unit.js';

const LONGEST = 40;
/** What objects are usually called by. */
const NAMES = ['name', 'id', 'title', 'topic', 'path', 'file', 'url'];

/** `item 2 (e2e)`: a unit as a person knows it. Branches have names of their own. */
export function unitTitle({ run }: PhaseContext, { label, variables }: UnitSpec & { readonly label: string }): string {
  if (variables?.item === undefined) return label;
  // Masked before it is cut: half a secret is not recognised as one.
  const text = oneLine(run.io.secrets.mask(itemName(variables.item.value)));
  if (text === '') return label;
  return `${label} (${text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text})`;
}

/** What a person calls an item: itself, or the name that it has. */
export function itemName(value: JsonValue): string {
  if (!isJsonObject(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  const name = NAMES.map((field) => value[field]).find(
    (found) => typeof found === 'string' || typeof found === 'number',
  );
  return name === undefined ? JSON.stringify(value) : String(name);
}
