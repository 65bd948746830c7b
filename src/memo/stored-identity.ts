import type { JsonObject, JsonValue } from '../model/json.js';
import { sha256Hex } from '../util/digest.js';
import { foldParts } from './fold-parts.js';
import { type FingerprintValue, type Identity, INEXACT } from './identity.js';

/** The form of an identity that is written down: enough to say what changed, nothing that must not be read. */
export type StoredIdentity = JsonObject;

interface SealOptions {
  /** Digest keyed with the store's own secret. */
  readonly seal: (value: string) => string;
  /** Values of secret arguments, wherever they turn up. */
  readonly secrets: readonly string[];
  /** Length of the canonical encoding, where it is known: a short one cannot hold long texts. */
  readonly length?: number;
}

/** Longer texts keep their beginning and a digest of the whole. */
export const TEXT_LIMIT = 16 * 1024;
/** For all texts of one identity together; beyond it only the digest of a text is kept. */
const TOTAL_LIMIT = 256 * 1024;
/** Larger globs are explained by their folders. */
export const PARTS_LIMIT = 2_000;

export function storedIdentity(identity: Identity, options: SealOptions): StoredIdentity {
  if (isPlain(identity, options)) return identity as unknown as JsonObject;
  const writer = new IdentityWriter(options);
  const { env, fingerprints, ...rest } = identity;
  const stored: Record<string, JsonValue> = {};
  for (const name of Object.keys(rest)) stored[name] = writer.write((rest as Record<string, JsonValue>)[name]!);
  stored['env'] = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, writer.seal(value)]));
  stored['fingerprints'] = fingerprints.map((fingerprint) => writeFingerprint(fingerprint, writer));
  if (writer.inexact) stored[INEXACT] = true;
  return stored;
}

/** True for most identities: nothing has to be sealed, shortened or left out. */
function isPlain({ env, fingerprints }: Identity, { secrets, length }: SealOptions): boolean {
  return (
    length !== undefined &&
    length <= TEXT_LIMIT &&
    secrets.length === 0 &&
    Object.keys(env).length === 0 &&
    fingerprints.every((fingerprint) => !('parts' in fingerprint) && !fingerprint.entry.startsWith('env:'))
  );
}

function writeFingerprint({ entry, value, parts }: FingerprintValue, writer: IdentityWriter): JsonObject {
  const secret = entry.startsWith('env:') && typeof value === 'string';
  const written = { entry: writer.write(entry), value: secret ? writer.seal(value) : writer.write(value) };
  if (parts === undefined) return written;
  const count = Object.keys(parts).length;
  if (count <= PARTS_LIMIT) return { ...written, parts: writer.writeParts(parts) };
  return { ...written, count, parts: writer.writeParts(foldParts(parts, PARTS_LIMIT)) };
}

class IdentityWriter {
  inexact = false;
  #total = 0;
  readonly #options: SealOptions;
  readonly #secrets: readonly { readonly text: string; readonly sealed: string }[];

  constructor(options: SealOptions) {
    this.#options = options;
    // The longest first: a secret may be a part of another one.
    this.#secrets = options.secrets
      .filter((secret) => secret !== '')
      .flatMap((secret) => spellings(secret, options))
      .sort((a, b) => b.text.length - a.text.length);
  }

  seal(value: string): string {
    this.inexact = true;
    return this.#options.seal(value);
  }

  redact(text: string): string {
    if (this.#secrets.length === 0) return text;
    let redacted = text;
    for (const { text: secret, sealed } of this.#secrets) {
      if (redacted.includes(secret)) redacted = redacted.replaceAll(secret, sealed);
    }
    if (redacted !== text) this.inexact = true;
    return redacted;
  }

  write(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.#shorten(this.redact(value));
    if (typeof value === 'number' && this.#secrets.length > 0) {
      const text = this.redact(String(value));
      return text === String(value) ? value : text;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.length === 0 ? value : value.map((element) => this.write(element));
    const members: [string, JsonValue][] = [];
    for (const name of Object.keys(value)) {
      const member = (value as JsonObject)[name];
      if (member !== undefined) members.push([this.redact(name), this.write(member)]);
    }
    return Object.fromEntries(members);
  }

  /** Digests cut short: enough to tell two contents apart in a message. */
  writeParts(parts: Readonly<Record<string, string>>): JsonObject {
    return Object.fromEntries(Object.entries(parts).map(([name, digest]) => [this.redact(name), digest.slice(0, 16)]));
  }

  #shorten(text: string): string {
    this.#total += Math.min(text.length, TEXT_LIMIT);
    const keep = this.#total > TOTAL_LIMIT ? 128 : TEXT_LIMIT;
    if (text.length <= keep) return text;
    this.inexact = true;
    return `${text.slice(0, keep)}… (${text.length - keep} more characters, sha256 ${sha256Hex(text)})`;
  }
}

/** A secret as it is, and escaped as inside JSON. */
function spellings(secret: string, { seal }: SealOptions): { text: string; sealed: string }[] {
  const sealed = seal(secret);
  const escaped = JSON.stringify(secret).slice(1, -1);
  return escaped === secret ? [{ text: secret, sealed }] : [escaped, secret].map((text) => ({ text, sealed }));
}
