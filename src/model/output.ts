import type { JsonValue } from './json.js';

/** The output of a phase: a text in memory or, when it is large, a file. */
export type Output = TextOutput | StoredOutput;

/** `base64` is set only when the bytes were not UTF-8; `text` is then their lossy reading. */
export interface TextOutput {
  readonly text: string;
  readonly json: JsonValue;
  readonly base64?: string;
  /** `text` is only the beginning, and this file holds the whole. */
  readonly file?: ShownFile;
}

export const NO_OUTPUT: TextOutput = { text: '', json: null };

/** A file of a run that holds a whole output; `path` is relative to the project. */
export interface ShownFile {
  readonly path: string;
  readonly bytes: number;
  readonly digest: string;
}

/** Bytes in a file that is named by their digest. */
export interface Blob {
  readonly digest: string;
  readonly bytes: number;
}

interface StoredText extends Blob {
  /** The bytes are not UTF-8. */
  readonly binary?: true;
  /** The file with its JSON value, if it has one: the same bytes, or others. */
  readonly json?: Blob;
}

/** An output in a file. Written as `{stored, preview, json: null}`: the reader of that supplies the files' folder. */
export class StoredOutput {
  readonly json = null;
  readonly #locate: (digest: string) => string;

  constructor(
    readonly stored: StoredText,
    readonly preview: string,
    locate: (digest: string) => string,
  ) {
    this.#locate = locate;
  }

  /** Absolute. */
  get file(): string {
    return this.#locate(this.stored.digest);
  }

  get jsonFile(): string {
    return this.#locate((this.stored.json ?? this.stored).digest);
  }

  /** The files that it consists of. */
  get files(): readonly (Blob & { readonly path: string })[] {
    const { json, digest, bytes } = this.stored;
    const text = { digest, bytes, path: this.file };
    return json && json.digest !== digest ? [text, { ...json, path: this.jsonFile }] : [text];
  }

  /** The same output, whose files are elsewhere. */
  in(locate: (digest: string) => string): StoredOutput {
    return new StoredOutput(this.stored, this.preview, locate);
  }

  withJson(json: Blob): StoredOutput {
    return new StoredOutput({ ...this.stored, json }, this.preview, this.#locate);
  }
}

/** Gives a stored output, read from a file, the folder of its files. */
export function located(output: Output, locate: (digest: string) => string): Output {
  const { stored, preview } = output as Partial<StoredOutput>;
  return stored === undefined ? output : new StoredOutput(stored, preview ?? '', locate);
}

/** Whether a value from outside is an output. Digests become parts of paths. */
export function isOutput(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { text, json, base64, stored, preview } = value as Readonly<Record<string, JsonValue>>;
  if (json === undefined) return false;
  if (stored === undefined) return typeof text === 'string' && typeof (base64 ?? '') === 'string';
  const inner = (stored as { json?: JsonValue } | null)?.json;
  return typeof preview === 'string' && isBlob(stored) && (inner === undefined || isBlob(inner));
}

function isBlob(value: JsonValue | undefined): boolean {
  const { digest, bytes } = (value ?? {}) as { digest?: JsonValue; bytes?: JsonValue };
  return typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest) && Number.isSafeInteger(bytes);
}
