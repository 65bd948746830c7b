import type { JsonObject, JsonValue } from '../model/json.js';
import type { FingerprintValue, Identity } from './identity.js';

interface SealedParts {
  /** Digest keyed with a secret that never leaves this store. */
  readonly seal: (value: string) => string;
  /** Values of secret arguments, the longest first. */
  readonly secrets: readonly string[];
}

/**
 * The identity that the key is made from: secret arguments and the values of `env:` are keyed digests in it. From a
 * key made of the values themselves, anybody with an entry could find a short value by trying. Returns the same object
 * where there is no secret, which is the usual case.
 */
export function sealedIdentity(identity: Identity, parts: SealedParts): Identity {
  const { secrets } = parts;
  if (secrets.length === 0 && !identity.fingerprints.some(isSecretValue)) return identity;
  const fingerprints = identity.fingerprints.map((each) => sealFingerprint(each, parts));
  if (secrets.length === 0) return { ...identity, fingerprints };
  const { body, agent, env, context, expect, cwd, upstream, outputs } = identity;
  const redacted = redact({ body, agent, env, context, expect, cwd, upstream, outputs } as JsonObject, parts);
  return { ...identity, ...(redacted as unknown as Partial<Identity>), fingerprints };
}

function isSecretValue({ entry, value }: FingerprintValue): boolean {
  return entry.startsWith('env:') && typeof value === 'string';
}

function sealFingerprint(fingerprint: FingerprintValue, parts: SealedParts): FingerprintValue {
  const { entry, value } = fingerprint;
  if (isSecretValue(fingerprint)) return { entry, value: parts.seal(value as string) };
  return { entry: redactText(entry, parts), value: redact(value, parts) };
}

function redact(value: JsonValue, parts: SealedParts): JsonValue {
  if (typeof value === 'string') return redactText(value, parts);
  if (typeof value === 'number') {
    const text = redactText(String(value), parts);
    // A number and the text that looks like it get different seals.
    return text === String(value) ? value : { number: text };
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => redact(element, parts));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === undefined ? [] : [[redactText(name, parts), redact(member, parts)]],
    ),
  );
}

function redactText(text: string, { secrets, seal }: SealedParts): string {
  let redacted = text;
  for (const secret of secrets) if (redacted.includes(secret)) redacted = redacted.replaceAll(secret, seal(secret));
  return redacted;
}
