import type { JsonObject, JsonValue } from '../model/json.js';
import type { Change } from './change.js';
import type { StoredIdentity } from './stored-identity.js';

const DIGEST = /sealed:([0-9a-f]{8}):[0-9a-f]+/g;

/** Whether two stores sealed these values, each with its own secret, so that they cannot be compared. */
export function sealedElsewhere(now: StoredIdentity, before: StoredIdentity): boolean {
  const current = storeOf(now);
  const earlier = current === undefined ? undefined : storeOf(before);
  return earlier !== undefined && earlier !== current;
}

function storeOf(identity: StoredIdentity): string | undefined {
  const text = JSON.stringify(identity);
  return text.includes('sealed:') ? new RegExp(DIGEST, '').exec(text)?.[1] : undefined;
}

/** Replaces every sealed value by the same word, so that the rest can be compared. */
export function withoutSeals(identity: StoredIdentity): StoredIdentity {
  return JSON.parse(JSON.stringify(identity).replace(DIGEST, 'sealed')) as JsonObject;
}

/** When nothing comparable differs, a sealed value must: a variable, or a text that holds a secret argument. */
export function perhapsChanged(now: StoredIdentity): Change[] {
  const entries = (Array.isArray(now['fingerprints']) ? now['fingerprints'] : []) as readonly JsonObject[];
  const inputs = entries.filter(({ value }) => isSealed(value)).map(({ entry }) => `input may have changed: ${entry}`);
  const env = Object.entries((now['env'] ?? {}) as JsonObject).filter(([, value]) => isSealed(value));
  const all = [...inputs, ...env.map(([name]) => `environment may have changed: ${name}`)];
  const messages = all.length > 0 ? all : ['a secret argument may have changed'];
  return messages.map((message) => ({ field: 'sealed', message: `${message} (kept by another store)` }));
}

function isSealed(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value.startsWith('sealed:');
}
