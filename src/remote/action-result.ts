/**
 * Bazel's `ActionResult`, as far as a shared entry needs it: servers that validate what they get accept it, and Bazel's
 * own see which files belong to an entry. Fields of protobuf, written by hand:
 *
 *     output_files (2): { path (1), digest (2): { hash (1), size_bytes (2) } }
 *     stdout_raw (5): the entry      stderr_raw (7): its signature
 */
interface ActionResult {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly files: readonly ResultFile[];
}

interface ResultFile {
  readonly path: string;
  readonly digest: string;
  readonly bytes: number;
}

export function encodeActionResult({ files, stdout, stderr }: ActionResult): Buffer {
  const parts = files.flatMap(({ path, digest, bytes }) => {
    const size = bytes === 0 ? [] : [tag(2, 0), varint(bytes)];
    const of = Buffer.concat([...field(1, Buffer.from(digest)), ...size]);
    return field(2, Buffer.concat([...field(1, Buffer.from(path)), ...field(2, of)]));
  });
  return Buffer.concat([...parts, ...field(5, stdout), ...field(7, stderr)]);
}

/** Undefined for bytes that are no such message. Fields that we do not know are skipped. */
export function decodeActionResult(bytes: Buffer): ActionResult | undefined {
  const fields = readFields(bytes);
  if (!fields) return undefined;
  const files: ResultFile[] = [];
  for (const inner of fields.bytes.get(2) ?? []) {
    const file = readFields(inner);
    const digest = readFields(file?.bytes.get(2)?.at(-1) ?? EMPTY);
    if (!file || !digest) return undefined;
    files.push({
      path: String(file.bytes.get(1)?.at(-1) ?? ''),
      digest: String(digest.bytes.get(1)?.at(-1) ?? ''),
      bytes: digest.numbers.get(2) ?? 0,
    });
  }
  return { files, stdout: fields.bytes.get(5)?.at(-1) ?? EMPTY, stderr: fields.bytes.get(7)?.at(-1) ?? EMPTY };
}

const EMPTY = Buffer.alloc(0);

function field(number: number, bytes: Buffer): Buffer[] {
  return bytes.length === 0 ? [] : [tag(number, 2), varint(bytes.length), bytes];
}

function tag(number: number, type: number): Buffer {
  return varint(number * 8 + type);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
}

interface Fields {
  readonly bytes: Map<number, Buffer[]>;
  readonly numbers: Map<number, number>;
}

function readFields(message: Buffer): Fields | undefined {
  const found: Fields = { bytes: new Map(), numbers: new Map() };
  let at = 0;
  const next = (): number | undefined => {
    let value = 0;
    for (let scale = 1; at < message.length && scale < 2 ** 64; scale *= 128) {
      const byte = message[at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    return undefined;
  };
  while (at < message.length) {
    const head = next();
    if (head === undefined) return undefined;
    const [number, type] = [Math.floor(head / 8), head % 8];
    const size = type === 0 || type === 2 ? next() : type === 1 ? 8 : type === 5 ? 4 : undefined;
    if (size === undefined || (type !== 0 && size > message.length - at)) return undefined;
    if (type === 0) found.numbers.set(number, size);
    else {
      const value = message.subarray(at, at + size);
      if (type === 2) found.bytes.set(number, [...(found.bytes.get(number) ?? []), value]);
      at += size;
    }
  }
  return found;
}
